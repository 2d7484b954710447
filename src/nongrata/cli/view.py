"""The command view: a local page with every answer of a run."""

from __future__ import annotations

from typing import Annotated

import typer

from nongrata.cli.options import RunArgument, error_console


def view(
    run: RunArgument,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Port of this machine; 0 takes any free one. Left out: 8364, or any free one if "
            "that is taken.",
            show_default=False,
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Whether to open the page in a browser.")] = True,
) -> None:
    """Read every prompt and answer of a run in a browser, on this machine alone.

    Serves a page at 127.0.0.1 until Ctrl-C. Every user of this machine can read it there; no other
    machine can. Nothing in the run is changed.
    """
    from nongrata.viewer import Api, RunOnDisk, open_server

    server = open_server(Api(RunOnDisk(run)), port)
    out = error_console()
    out.print(f"viewing {server.address} (Ctrl-C ends it)", soft_wrap=True)
    if browser:
        import threading
        import webbrowser

        # some browsers end only when they are closed, and all of them want to be served meanwhile
        threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        out.print("")
    finally:
        server.server_close()
