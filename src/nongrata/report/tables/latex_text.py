"""Plain text as LaTeX that prints just it, whatever it holds."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from nongrata.terminal import visible

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\`{}",
    # at the start of a row they would be read by the command that ends the row before
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "\u00a0": "~",
    "\u202f": r"\,",
    "\u2013": "--",
    "\u2014": "---",
    "\u2026": r"\ldots{}",
    "\u2212": "$-$",
    "\u00b1": r"$\pm$",
    "\u00b5": r"$\mu$",
    "\u00b7": r"$\cdot$",
    "\u00d7": r"$\times$",
    "\u2190": r"$\leftarrow$",
    "\u2192": r"$\rightarrow$",
    "\u221a": r"$\surd$",
    "\u221e": r"$\infty$",
    "\u2248": r"$\approx$",
    "\u2260": r"$\neq$",
    "\u2264": r"$\leq$",
    "\u2265": r"$\geq$",
}
_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "-", "pi", "rho", "varsigma", "sigma", "tau", "upsilon"),
    *("phi", "chi", "psi", "omega"),
)
_GREEK_CAPITALS = {"Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi",
                   "Psi", "Omega"}  # fmt: skip
_SUPERSCRIPTS = {"\u00b9": "1", "\u00b2": "2", "\u00b3": "3"}
# what pdfLaTeX prints under T1 since 2020
_KNOWN = re.compile(
    "[ -~\u00a1\u00a3\u00a7\u00a9\u00ab\u00ae\u00b6\u00bb\u00bf-\u00d6\u00d8-\u00f6\u00f8-\u0125"
    "\u0128-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u0165\u0168-\u017e\u0218-\u021b"
    "\u2018-\u201a\u201c-\u201e\u2039\u203a\u20ac]"
)


def latex_text(text: str, *, unicode: bool = False) -> str:
    r"""A text as LaTeX: nothing in it is a command, a comment, a formula or a ligature.

    Parameters
    ----------
    text
        Plain text; it is printed on one line, what cannot be seen as escapes.
    unicode
        Whether every character may stand for itself, as in XeLaTeX and LuaLaTeX. Else what
        pdfLaTeX has no sign for is written as its code point.

    Examples
    --------
    >>> print(latex_text(r"\input{x} 50% & <b> --"))
    \textbackslash{}input\{x\} 50\% \& \textless{}b\textgreater{} -{}-
    >>> print(latex_text("\u22121.5 \u03b8 \u4e2d caf\u00e9"))
    $-$1.5 $\theta$ {[}U+4E2D{]} café
    """
    written = []
    before = ""
    for character in unicodedata.normalize("NFC", visible(text, one_line=True)):
        if character == before and character in "-',":
            written.append("{}")
        written.append(_written(character, unicode))
        before = character
    return "".join(written)


def needs_t1(latex: str) -> bool:
    """Whether a text of `latex_text` has signs that the oldest fonts, OT1, lack.

    Examples
    --------
    >>> needs_t1("a & b"), needs_t1(latex_text('"a"'))
    (False, True)
    """
    return not latex.isascii() or r"\textquotedbl" in latex


@cache
def _written(character: str, unicode: bool) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character in _SUPERSCRIPTS:
        return f"$^{_SUPERSCRIPTS[character]}$"
    if unicode or _KNOWN.match(character):
        return character
    if "\u2080" <= character <= "\u2089":
        return f"$_{ord(character) - 0x2080}$"
    return _greek(character) or f"{{[}}U+{ord(character):04X}{{]}}"


def _greek(character: str) -> str:
    small = ord(character.lower()) - 0x3B1 if len(character.lower()) == 1 else -1
    if not 0 <= small < len(_GREEK):
        return ""
    name = _GREEK[small] if character.islower() else _GREEK[small].capitalize()
    known = character.islower() or name in _GREEK_CAPITALS
    return rf"$\{name}$" if known and name != "-" else ""
