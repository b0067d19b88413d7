#!/usr/bin/env bash
# A test of a shell script, or in any language that has no library here:
#
#   npx agent-workspace-emulator exec -- bash curl.sh
#
# exec starts an emulator on a free port, passes its address to the script, and ends with the script's exit code.
set -euo pipefail

: "${WORKSPACE_BASE_URL:?run this under: workspace-emulator exec -- bash curl.sh}"
control=$WORKSPACE_EMULATOR_URL/__emulator

api() { # METHOD PATH [curl arguments]
  local method=$1 path=$2
  shift 2
  curl -sS --fail-with-body -X "$method" "$WORKSPACE_BASE_URL$path" \
    -H "Authorization: Bearer $WORKSPACE_API_KEY" -H 'Content-Type: application/json' "$@"
}

fail() {
  echo "not ok: $*" >&2
  exit 1
}

# Time passes only when this script advances the clock.
curl -sS --fail-with-body -X PATCH "$control/clock" -H 'Content-Type: application/json' -d '{"rate": 0}' > /dev/null

# The first id in a response is the id of its object.
batch=$(api POST /batch-predictions -H 'Idempotency-Key: order-1' -d '{
  "prompt": "Read the total.",
  "output_schema": {"type": "object", "properties": {"total": {"type": "number"}}},
  "model": "any-model",
  "items": [
    {"file_id": "file-invoice-1", "custom_id": "first"},
    {"file_id": "file-invoice-2", "custom_id": "second"}
  ]
}' | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')
[ -n "$batch" ] || fail 'no batch was created'

# The results do not exist yet. With --fail-with-body, a refusal causes an exit code.
if api GET "/batch-predictions/$batch/results" > /dev/null 2>&1; then fail 'results came too early'; fi

curl -sS --fail-with-body "$control/clock/advance" -H 'Content-Type: application/json' -d '{"by": "24h"}' > /dev/null

api GET "/batch-predictions/$batch" | grep '"status":"completed"' > /dev/null || fail 'the batch is not completed'
lines=$(api GET "/batch-predictions/$batch/results" | grep -c '"status":"succeeded"' || true)
[ "$lines" -eq 2 ] || fail "2 results were to succeed, $lines did"

# The URLs in responses can be opened, here the page on which a user completes a connection.
page=$(api POST /connections -d '{"connector_id": "drive"}' | sed -n 's/.*"redirect_url":"\([^"]*\)".*/\1/p')
curl -sS --fail-with-body "$page" > /dev/null || fail "$page cannot be opened"

echo "ok: $lines results of batch $batch"
