"""Which commands there are."""

from __future__ import annotations

import typer

from nongrata.cli import (
    check_reading,
    checks,
    demo,
    exports,
    findings,
    imports,
    pin,
    questions,
    reports,
    results,
    studies,
    view,
)


def commands(app: typer.Typer) -> None:
    """Add every command to the application, in the order in which help lists them."""
    app.command("demo")(demo.demo)
    app.command("init")(studies.init)
    app.command("plan")(studies.plan)
    app.command("pin")(pin.pin)
    app.command("run")(studies.run)
    app.command("status")(studies.status)
    app.command("findings")(findings.findings)
    app.command("analyze")(results.analyze)
    app.command("report")(reports.report)
    app.command("tables")(exports.tables)
    app.command("figures")(exports.figures)
    app.command("view")(view.view)
    app.command("rerun")(results.rerun)
    app.command("show")(results.show)
    app.add_typer(imports.app, name="import")
    app.add_typer(questions.app, name="questions")
    app.command("check-engine")(checks.check_engine)
    app.command("check-reading")(check_reading.check_reading)
    app.command("schema")(studies.schema)
