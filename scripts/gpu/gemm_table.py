"""Prints the tables of docs/gemm.md.

usage: gemm_table.py OUT.jsonl, what bench_gemm.py wrote
"""

import json
import pathlib
import sys

from common import mean

WAYS = ("library", "flattened", "flattened_stores", "persistent", "persistent_stores", "pointers")
OTHER = ("_padded", "_viewed")
LAYOUTS = ("padded_", "permuted_", "vocabulary_", "conv1x1_")
FEW = ("split_", "w8a16_", "gated_", "cast_")
# sums in pieces, operands computed on the way in, both, neither
KINDS = {
    "library": lambda w: w == "library",
    "template": lambda w: w != "library" and not w.startswith("split_") and not w.endswith("_prologue"),
    "in pieces": lambda w: w.startswith("split_") and not w.endswith("_prologue"),
    "operand computed": lambda w: w == "pointers_prologue",
    "both": lambda w: w.startswith("split_") and w.endswith("_prologue"),
}
SIDES = {"ours": "fuselens", "untuned": "untuned", "torch.compile": "compile", "default": "default", "eager": "eager"}
# attention has one form of template
ONE_FORM = "attention"


def way(row):
    return "template" if row["name"].startswith(ONE_FORM) and row["chosen"] != "library" else row["chosen"]


def ratio(row, how):
    return row[how]["compile"] / row[how]["fuselens"]


def time(row, way):
    """What the way takes, bold where it was chosen."""
    return f"**{row['ways'][way]:.1f}**" if way == row["chosen"] else f"{row['ways'][way]:.1f}"


def fastest(row, has):
    """Of the ways that `has` takes; None: there are none."""
    return min(filter(has, row["ways"]), key=row["ways"].get, default=None)


def table(columns, rows):
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for cells in rows:
        print("| " + " | ".join(cells) + " |")


def main(path):
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    measured = [r for r in rows if r.get("cold", {}).get("compile") and r["graph"].get("compile")]
    rows = [r for r in measured if not r["name"].startswith(LAYOUTS + FEW)]
    sides(rows, ("ours", "torch.compile", "eager"))
    products = [r for r in rows if not r["name"].startswith(ONE_FORM)]
    for how in ("cold", "graph"):
        ratios = [ratio(r, how) for r in products]
        print(f"\nmatrix products, {how}: geometric mean {mean(ratios):.2f}, least {min(ratios, default=0):.2f}", end="")
    print("\n")
    table(("program", *WAYS), ([r["name"], *forms(r)] for r in rows))
    print()
    layouts([r for r in measured if r["name"].startswith(LAYOUTS)])
    print()
    few([r for r in measured if r["name"].startswith(FEW)])


def sides(rows, shown=tuple(SIDES)):
    columns = ("program", "way", *shown, "ratio cold", "ratio graph", "error", "error of torch.compile")
    cells = []
    for r in rows:
        times = [f"{r['cold'][SIDES[s]]:.1f}" if SIDES[s] in r["cold"] else "" for s in shown]
        ratios = [f"{ratio(r, how):.2f}" for how in ("cold", "graph")]
        cells.append([r["name"], way(r), *times, *ratios, *(f"{r['error'][s]:.1e}" for s in ("fuselens", "compile"))])
    table(columns, cells)


def forms(row):
    """What each of WAYS takes; of attention the one form stands for the first."""
    names = {"flattened" if w != "library" and row["name"].startswith(ONE_FORM) else w: w for w in row["ways"]}
    return [time(row, names[w]) if w in names else "" for w in WAYS]


def few(rows):
    """Of programs about sums in pieces and computed operands: all sides, and the fastest way of each kind."""
    sides(rows)
    print()
    cells = []
    for r in rows:
        ways = [fastest(r, has) for has in KINDS.values()]
        cells.append([r["name"], *("" if w is None else f"{time(r, w)} ({w})" for w in ways)])
    table(("program", *KINDS), cells)


def layouts(rows):
    """Of programs about how operands lie: all sides, and the fastest ways with operands as given and otherwise."""
    sides(rows)
    print()
    cells = []
    for r in rows:
        ways = [fastest(r, lambda w, other=other: w.endswith(OTHER) == other) for other in (False, True)]
        if None not in ways:
            cells.append([r["name"], *(f"{r['ways'][w]:.1f} ({w})" for w in ways)])
    table(("program", "as given", "otherwise"), cells)


if __name__ == "__main__":
    main(sys.argv[1])
