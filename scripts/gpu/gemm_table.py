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
# attention has one form of template
ONE_FORM = "attention"


def way(row):
    return "template" if row["name"].startswith(ONE_FORM) and row["chosen"] != "library" else row["chosen"]


def ratio(row, how):
    return row[how]["compile"] / row[how]["fuselens"]


def main(path):
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    measured = [r for r in rows if r.get("cold", {}).get("compile") and r["graph"].get("compile")]
    rows = [r for r in measured if not r["name"].startswith(LAYOUTS + FEW)]
    print("| program | way | ours | torch.compile | eager | ratio cold | ratio graph | error | error of torch.compile |\n|---|---|---|---|---|---|---|---|---|")
    for r in rows:
        c, e = r["cold"], r["error"]
        print(
            f"| {r['name']} | {way(r)} | {c['fuselens']:.1f} | {c['compile']:.1f} | {c['eager']:.1f} "
            f"| {ratio(r, 'cold'):.2f} | {ratio(r, 'graph'):.2f} | {e['fuselens']:.1e} | {e['compile']:.1e} |"
        )
    products = [r for r in rows if not r["name"].startswith(ONE_FORM)]
    for how in ("cold", "graph"):
        ratios = [ratio(r, how) for r in products]
        print(f"\nmatrix products, {how}: geometric mean {mean(ratios):.2f}, least {min(ratios, default=0):.2f}", end="")
    print("\n\n| program | " + " | ".join(WAYS) + " |\n" + "|---" * (1 + len(WAYS)) + "|")
    for r in rows:
        names = {"template" if k != "library" and r["name"].startswith(ONE_FORM) else k: k for k in r["ways"]}
        cells = []
        for w in WAYS:
            known = names.get("template" if w == "flattened" and "template" in names else w)
            cells.append("" if known is None else f"**{r['ways'][known]:.1f}**" if known == r["chosen"] else f"{r['ways'][known]:.1f}")
        print(f"| {r['name']} | " + " | ".join(cells) + " |")
    layouts([r for r in measured if r["name"].startswith(LAYOUTS)])
    few([r for r in measured if r["name"].startswith(FEW)])


def all_sides(rows):
    sides = {"ours": "fuselens", "untuned": "untuned", "torch.compile": "compile", "default": "default", "eager": "eager"}
    columns = ("program", "way", *sides, "ratio cold", "ratio graph", "error", "error of torch.compile")
    print("\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for r in rows:
        times = " | ".join(f"{r['cold'][side]:.1f}" if side in r["cold"] else "" for side in sides.values())
        ratios = f"{ratio(r, 'cold'):.2f} | {ratio(r, 'graph'):.2f}"
        print(f"| {r['name']} | {r['chosen']} | {times} | {ratios} | {r['error']['fuselens']:.1e} | {r['error']['compile']:.1e} |")


def few(rows):
    """Of programs about sums in pieces and computed operands: all sides, and the fastest way of each kind."""
    all_sides(rows)
    print("\n| program | " + " | ".join(KINDS) + " |\n" + "|---" * (1 + len(KINDS)) + "|")
    for r in rows:
        best = [min(((us, way) for way, us in r["ways"].items() if has(way)), default=None) for has in KINDS.values()]
        cells = ["" if b is None else f"**{b[0]:.1f}** ({b[1]})" if b[1] == r["chosen"] else f"{b[0]:.1f} ({b[1]})" for b in best]
        print(f"| {r['name']} | " + " | ".join(cells) + " |")


def layouts(rows):
    """Of programs about how operands lie: all sides, and the fastest ways with operands as given and otherwise."""
    all_sides(rows)
    print("\n| program | as given | otherwise |\n|---|---|---|")
    for r in rows:
        given, otherwise = (min(((us, way) for way, us in r["ways"].items() if way.endswith(OTHER) == other), default=None) for other in (False, True))
        if given and otherwise:
            print(f"| {r['name']} | {given[0]:.1f} ({given[1]}) | {otherwise[0]:.1f} ({otherwise[1]}) |")


if __name__ == "__main__":
    main(sys.argv[1])
