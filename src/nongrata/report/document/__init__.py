"""What a report says, whatever it is written in: sections of texts, tables and charts.

Every number in it is a `Number`, which knows where in the results' JSON form it stands, so that
a reader can find it there and a test can compare the two.
"""
