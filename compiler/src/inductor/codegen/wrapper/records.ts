// The output_code artifact's log records. In: lines of the output code. Out: the code and where it was written, in
// torch's order. Promises: the path is made from content, so equal runs log equal text.
import type { LogRecord } from "../../../report/log";
import { type CodegenOptions, has } from "../triton/options";
import type { CallLine } from "./call_body";
import { contentName } from "./content_name";

export function outputCodeRecords(lines: readonly CallLine[], options: CodegenOptions): LogRecord[] {
  const text = `${lines.map(l => l.text).join("\n")}\n`;
  const { folder, file } = contentName(text);
  const written = `Output code written to: /tmp/torchinductor_root/${folder}/${file}`;
  const title = has(options, "space_after_output_code") ? "Output code: " : "Output code:";
  return [
    { level: "DEBUG", artifact: "output_code", message: `${title}\n${text}` },
    { level: "DEBUG", artifact: "output_code", message: written },
    { level: "INFO", artifact: "output_code", message: written },
  ];
}
