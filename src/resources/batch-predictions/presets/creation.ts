import type { Preset } from '../../../core/faults/preset.ts'
import type { Action } from '../../../core/faults/primitive.ts'

function withKey(name: string, description: string, actions: readonly Action[]): Preset {
  return {
    name,
    family: 'retry',
    description,
    match: { operation: 'batch-predictions.create', headers: { 'idempotency-key': '*' } },
    when: { nth: 1, by: 'idempotency_key' },
    do: actions,
  }
}

/** Creations of which the client does not know whether they happened, and keys that are in the way. */
export const creationPresets: readonly Preset[] = [
  withKey(
    'lost-response-after-commit',
    'The batch is created, then the connection is reset before a byte of the answer; the same key replays.',
    [{ cut: { at: 'after-handler', how: 'rst' } }],
  ),
  withKey('concurrent-same-key', 'A 409: another request with the same key is still under way.', [
    { idem: { concurrent: true } },
  ]),
  withKey('key-reuse-different-body', 'A 409: the key was used before with another body.', [
    { respond: { status: 409, code: 'idempotency_key_reused' } },
  ]),
  withKey(
    'timeout-then-late-success',
    'The batch is created, but no answer comes until the client gives up; the same key replays.',
    [{ cut: { at: 'after-handler', how: 'pause' } }],
  ),
]
