import { describe, expect, it } from "vitest";
import { cellText } from "./notebook_cells";

describe("cells", () => {
  it("keep their lines; magics and shell commands do nothing", () => {
    expect(cellText("%matplotlib inline\nx = 1\nif x:\n    !ls\ny = x % 2")).toBe(
      "pass  # %matplotlib inline\nx = 1\nif x:\n    pass  # !ls\ny = x % 2",
    );
  });

  it("of another language are comments", () => {
    expect(cellText("%%bash\nls -l")).toBe("# %%bash\n# ls -l");
    expect(cellText("%%time\nx = 1")).toBe("pass  # %%time\nx = 1");
  });
});
