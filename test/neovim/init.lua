-- Drives the language server from a headless Neovim, as its user's configuration would. Prints "ok NAME" or
-- "not ok NAME: why" for each check. FUSELENS_ROOT is the repository's folder.
local root = os.getenv("FUSELENS_ROOT")
local failed = 0

local function say(text) io.stdout:write(text .. "\n") end
local function check(name, run)
  local fine, why = pcall(run)
  if fine then
    say("ok " .. name)
  else
    failed = failed + 1
    say("not ok " .. name .. ": " .. tostring(why):gsub("\n", " "))
  end
end

vim.cmd("set nomore noswapfile hidden")
vim.cmd("edit " .. root .. "/examples/transpose_sum.py")
vim.bo.filetype = "python"
local buffer = vim.api.nvim_get_current_buf()
local uri = vim.uri_from_bufnr(buffer)

local config = {
  name = "fuselens",
  cmd = { "node", root .. "/server/bin/fuselens.cjs", "lsp", "--stdio" },
  root_dir = root,
  init_options = {},
}
local client
if vim.lsp.start then
  client = vim.lsp.start(config)
else -- Neovim before 0.8
  client = vim.lsp.start_client(config)
  vim.lsp.buf_attach_client(buffer, client)
end
local started = vim.wait(15000, function()
  return #vim.lsp.buf_get_clients(buffer) > 0 and vim.lsp.get_client_by_id(client).initialized
end, 20)

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 20000)
  assert(answers, method .. " timed out")
  for _, a in pairs(answers) do
    assert(not a.error, a.error and a.error.message)
    return a.result
  end
end

local function line_of(text)
  for i, l in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local at = l:find(text, 1, true)
    if at then return i - 1, at - 1 end
  end
  error("no line with " .. text)
end

local function at(text, offset)
  local line, column = line_of(text)
  return { textDocument = { uri = uri }, position = { line = line, character = column + (offset or 0) } }
end

check("the server starts", function() assert(started, "not initialized in time") end)

check("hover names the kernel", function()
  local h = ask("textDocument/hover", at("x.sum(dim=0)", 3))
  assert(h.contents.value:match("^%*%*Kernel %d+%*%* `triton_"), h.contents.value)
end)

check("lenses are placed, resolved and shown", function()
  local lenses = ask("textDocument/codeLens", { textDocument = { uri = uri } })
  assert(#lenses >= 3, "only " .. #lenses)
  local resolved = ask("codeLens/resolve", lenses[1])
  assert(resolved.command.title:match("^%d+ kernels?"), resolved.command.title)
  vim.lsp.codelens.refresh()
  assert(vim.wait(5000, function() return #vim.lsp.codelens.get(buffer) > 0 end, 20), "Neovim shows none")
end)

check("diagnostics arrive", function()
  local function missed()
    for _, d in ipairs(vim.diagnostic.get(buffer)) do
      if d.message:match("^Not fused: ") then return true end
    end
  end
  assert(vim.wait(10000, missed, 20), "no hint at a missed fusion")
end)

check("a command answers with output code", function()
  local shown = ask("workspace/executeCommand", {
    command = "fuselens.showOutputCode",
    arguments = { { uri = uri, root = "sum_and_transpose" } },
  })
  assert(shown.text:find("@triton.jit", 1, true), "no kernel in it")
end)

check("definition leads into a file with the kernel", function()
  local places = ask("textDocument/definition", at("x.sum(dim=0)", 3))
  assert(places[1], "nowhere")
  vim.lsp.util.jump_to_location(places[1], "utf-16")
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  assert(text:find("def triton_", 1, true), "no kernel in " .. vim.api.nvim_buf_get_name(0))
  vim.api.nvim_set_current_buf(buffer)
end)

check("highlights are of one kernel", function()
  local found = ask("textDocument/documentHighlight", at("x.t().contiguous()", 6))
  assert(#found >= 1, "none")
end)

check("an edit is followed, incrementally", function()
  local line = line_of("x.sum(dim=0)")
  vim.api.nvim_buf_set_lines(buffer, line, line, false, { "    # a line more" })
  local l, c = line_of("x.sum(dim=0)")
  vim.api.nvim_buf_set_text(buffer, l, c + 2, l, c + 5, { "amax" })
  local h = ask("textDocument/hover", at("x.amax(dim=0)", 3))
  assert(h.contents.value:find("aten.amax", 1, true), h.contents.value)
  assert(h.range.start.line == l, "the range is on another line")
end)

check("the server ends in order", function()
  vim.lsp.stop_client(client)
  assert(vim.wait(5000, function() return vim.lsp.client_is_stopped(client) end, 20), "still there")
end)

if failed > 0 then vim.cmd("cquit 1") else vim.cmd("qa!") end
