// The client's capabilities as far as anything here depends on them. In: InitializeParams. Out: ClientAbilities.
import type { InitializeParams } from "vscode-languageserver/node";
import type { ClientAbilities } from "./context";

export function abilitiesOf(params: InitializeParams): ClientAbilities {
  const { workspace, textDocument, window } = params.capabilities;
  const options = params.initializationOptions as { rich?: unknown } | null | undefined;
  return {
    lensRefresh: workspace?.codeLens?.refreshSupport ?? false,
    inlayRefresh: workspace?.inlayHint?.refreshSupport ?? false,
    diagnosticRefresh: workspace?.diagnostics?.refreshSupport ?? false,
    pullsDiagnostics: textDocument?.diagnostic !== undefined,
    progress: window?.workDoneProgress ?? false,
    showDocument: window?.showDocument?.support ?? false,
    textContent: workspace?.textDocumentContent !== undefined,
    pullsConfiguration: workspace?.configuration ?? false,
    workspaceFolders: workspace?.workspaceFolders ?? false,
    watchesFiles: workspace?.didChangeWatchedFiles?.dynamicRegistration ?? false,
    actionLiterals: textDocument?.codeAction?.codeActionLiteralSupport !== undefined,
    relatedInformation: textDocument?.publishDiagnostics?.relatedInformation ?? textDocument?.diagnostic !== undefined,
    symbolTree: textDocument?.documentSymbol?.hierarchicalDocumentSymbolSupport ?? false,
    rich: options?.rich === true,
  };
}
