# The words of a crushrc, as functions of a real bash. Each call is sent to the program that reads the configuration, which
# answers with a status, what to print and what to complain of, so that a mistake can be seen by the script itself.
__turnkeeper_tell() {
  local status said complaint
  printf '%s\0' "$(($# + 2))" "${BASH_SOURCE[2]:-}" "${BASH_LINENO[1]:-0}" "$@" >&"$__turnkeeper_requests" || return 1
  IFS= read -r -d '' -u "$__turnkeeper_replies" status || return 1
  IFS= read -r -d '' -u "$__turnkeeper_replies" said || return 1
  IFS= read -r -d '' -u "$__turnkeeper_replies" complaint || return 1
  if [[ -n $said ]]; then printf '%s\n' "$said"; fi
  if [[ -n $complaint ]]; then printf '%s\n' "$complaint" >&2; fi
  return "$status"
}
provider() { __turnkeeper_tell provider "$@"; }
model() { __turnkeeper_tell model "$@"; }
mcp() { __turnkeeper_tell mcp "$@"; }
lsp() { __turnkeeper_tell lsp "$@"; }
hook() { __turnkeeper_tell hook "$@"; }
permissions() { __turnkeeper_tell permissions "$@"; }
option() { __turnkeeper_tell option "$@"; }
