"""Which commands there are."""

from __future__ import annotations

import typer

from nongrata.cli import demo, questions, results, studies


def commands(app: typer.Typer) -> None:
    """Add every command to the application, in the order in which help lists them."""
    app.command("demo")(demo.demo)
    app.command("init")(studies.init)
    app.command("plan")(studies.plan)
    app.command("run")(studies.run)
    app.command("status")(studies.status)
    app.command("analyze")(results.analyze)
    app.command("show")(results.show)
    app.add_typer(questions.app, name="questions")
    app.command("schema")(studies.schema)
