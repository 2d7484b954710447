"""Section: a methods paragraph with every number filled in, and what to cite."""

from __future__ import annotations

from collections.abc import Iterator

from nongrata.report.document.blocks import Block, Code, Paragraph, Section
from nongrata.report.document.pieces import Name, Names, Number, Text
from nongrata.report.sections.study import Study
from nongrata.report.sections.summary import labels_and_controls

UNREAD = {
    "wrong": "An answer that could not be read counts as not correct.",
    "right": "An answer that could not be read counts as correct.",
    "left_out": "Answers that could not be read are left out.",
}
TIMES = {True: "once", False: "{replicates} times"}


def methods_section(study: Study) -> Section:
    """Methods, ready to be pasted into a paper.

    Parameters
    ----------
    study
        The results.
    """
    texts = (_design(study), _accuracy(study), _instability(study), _order(study), _verdicts(study))
    return Section(
        id="methods",
        title=Text("Methods"),
        question=Text("How is this described in a paper?"),
        blocks=(*(Paragraph(text) for text in texts), *_citation(study)),
    )


def _design(study: Study) -> Text:
    top = study.top
    factors = Names(
        tuple(
            Text.of(
                "{factor} ({n} levels)",
                factor=Name(factor["name"].text),
                n=Number.count(factor["levels"]),
            )
            for factor in top["provenance"]["factors"]
        )
    )
    crossed = Text.of(
        "{configurations} configurations, the full cross of {factors}"
        if study.results["configurations"] > 1
        else "one configuration",
        configurations=Number.count(top["configurations"]),
        factors=factors,
    )
    return Text.of(
        "Design. {models} answered {questions} multiple-choice questions under {labels} in "
        "{crossed}; each cell was answered {times}. {from_where} {unread} Errors are missing data. "
        "A label is words in a prompt; nothing is inferred about people.",
        models=Names(tuple(Name(model) for model in study.models)),
        questions=Number.count(top["questions"]),
        labels=labels_and_controls(study),
        crossed=crossed,
        times=Text.of(
            TIMES[study.results["replicates"] == 1], replicates=Number.count(top["replicates"])
        ),
        from_where=_from_where(study),
        unread=Text(UNREAD[study.results["unread"]]),
    )


def _from_where(study: Study) -> Text:
    origin = study.top["provenance"]
    if origin["made_from"].text == "import":
        return Text("Answers were imported from a table.")
    return Text.of(
        "Prompts, sampling and question drawing are fixed by the seed {seed} of the study; "
        "identical requests are sent once, and model revisions, sampling parameters and hashes "
        "are listed under provenance.",
        seed=Number.of(origin["seed"], style="text"),
    )


def _accuracy(study: Study) -> Text:
    top = study.top
    clusters = Text.of(
        "{clusters} clusters that share a text"
        if study.results["clusters"] < study.results["questions"]
        else "{clusters} questions",
        clusters=Number.count(top["clusters"]),
    )
    return Text.of(
        "Accuracy. The value of a question is the exact probability of a right answer where the "
        "model's probabilities are known, else the mean over replicates. Standard errors, tests "
        "and intervals treat {clusters} as the sampling units, within sources as strata; they use "
        "{draws} bootstrap resamples and {splits} random halves of them (seed {seed}). Accuracy is "
        "compared with guessing and with the best constant answer, and nothing is ranked where it "
        "is not shown to be above both.",
        clusters=clusters,
        draws=Number.count(top["draws"]),
        splits=Number.count(top["splits"]),
        seed=Number.of(top["seed"], style="text"),
    )


def _instability(study: Study) -> Text:
    exact = study.results["noise"]["value"] == "theta"
    taken = Text(
        "from the exact probabilities" if exact else "replicate by replicate and then averaged"
    )
    return Text.of(
        "Instability. IA is the mean absolute difference of accuracy between two configurations, "
        "in points; IQ(m) the share of the questions right in any of m configurations that are not "
        "right in all m, in per cent, averaged over all sets of m (rarefaction), so that IQ over "
        "{configurations} configurations is that of the protocol (arXiv 2607.00937); IO is a "
        "reconstruction of its weighted rank deviation. They are computed over {labels} labels, "
        "controls and structural duplicates left out, {taken}. Each stands beside what noise alone "
        "gives: re-runs of the same configurations, exchangeable answers, and equal accuracies.",
        configurations=Number.count(study.top["configurations"]),
        labels=Number.count(study.top["findings"]["models"][0]["labels"]),
        taken=taken,
    )


def _order(study: Study) -> Text:
    return Text.of(
        "Order of labels. Ranks have simultaneous confidence sets (Mogstad, Romano, Shaikh and "
        "Wilhelm 2024); agreement of configurations (Kendall's W, tau-b) is compared with that of "
        "a configuration with itself on disjoint halves of the questions. Labels are compared with "
        "each control on the same questions, with max-t simultaneous intervals and equivalence "
        "within {smallest} points. Agreement on the chosen option is Fleiss' kappa, Gwet's AC1 and "
        "Krippendorff's alpha; variance components and generalizability follow Brennan (2001). "
        "Stable and unstable configurations are chosen on one half of the questions and judged on "
        "the other.",
        smallest=Number.of(study.top["contrasts"]["smallest_effect"]),
    )


def _verdicts(study: Study) -> Text:
    return Text.of(
        "Verdicts. A difference is robust if it is shown, in one direction, in at least 90% of the "
        "configurations (partial conjunction test, Benjamini and Heller 2008), and fragile if both "
        "directions are shown, each in some configuration (Bonferroni over configurations). "
        "Statements without a direction (does accuracy depend on the configuration) are tested by "
        "clustered sums of squares with Satterthwaite's approximation. All p values of a model are "
        "adjusted together by Holm's (1979) procedure with weights, so that the chance that "
        "anything called robust or established is false is at most {alpha}.",
        alpha=Number.of(study.top["findings"]["alpha"], 2),
    )


def _citation(study: Study) -> Iterator[Block]:
    version = study.top["provenance"]["computed_with"].text
    yield Paragraph(
        Text.of(
            "Computed with nongrata {version}. Cite the software, and the protocol it implements:",
            version=Name(version),
        )
    )
    yield Code(bibtex(version))


def bibtex(version: str) -> str:
    """BibTeX entries of the software and of the protocol.

    Examples
    --------
    >>> bibtex("1.0").splitlines()[0]
    '@software{nongrata,'
    """
    lines = (
        "@software{nongrata,",
        "  author = {{The nongrata developers}},",
        "  title = {nongrata: which conclusions about persona prompts survive a change of prompt},",
        f"  version = {{{version}}},",
        "}",
        "@misc{persona-non-grata,",
        "  title = {Persona Non Grata},",
        "  eprint = {2607.00937},",
        "  archiveprefix = {arXiv},",
        "}",
    )
    return "\n".join(lines)
