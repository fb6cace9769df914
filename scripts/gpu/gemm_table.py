"""Prints the tables of docs/gemm.md.

usage: gemm_table.py OUT.jsonl, what bench_gemm.py wrote
"""

import json
import pathlib
import sys

from common import mean

WAYS = ("library", "flattened", "flattened_stores", "persistent", "persistent_stores", "pointers")
# attention has one form of template
ONE_FORM = "attention"


def way(row):
    return "template" if row["name"].startswith(ONE_FORM) and row["chosen"] != "library" else row["chosen"]


def ratio(row, how):
    return row[how]["compile"] / row[how]["fuselens"]


def main(path):
    rows = [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]
    rows = [r for r in rows if r.get("cold", {}).get("compile") and r["graph"].get("compile")]
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
        print(f"\nmatrix products, {how}: geometric mean {mean(ratios):.2f}, least {min(ratios):.2f}", end="")
    print("\n\n| program | " + " | ".join(WAYS) + " |\n" + "|---" * (1 + len(WAYS)) + "|")
    for r in rows:
        names = {"template" if k != "library" and r["name"].startswith(ONE_FORM) else k: k for k in r["ways"]}
        cells = []
        for w in WAYS:
            known = names.get("template" if w == "flattened" and "template" in names else w)
            cells.append("" if known is None else f"**{r['ways'][known]:.1f}**" if known == r["chosen"] else f"{r['ways'][known]:.1f}")
        print(f"| {r['name']} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1])
