import { same } from '../../kernel/json.ts'
import type { Commit, Row } from '../../kernel/state/commit.ts'
import { CLOCK, WORLD, type WorldState } from '../../kernel/state/state.ts'
import { Store } from '../../kernel/state/store.ts'
import { formatInstant } from '../../kernel/time/instant.ts'
import type { Sandbox } from '../../kernel/worlds/sandbox.ts'

/**
 * What turns the world of an edited state file into the present one, before the edit is taken, as one commit with the number
 * of the last. The log before it is made of differences to the file that the edit has overwritten; with it, a crash finds the
 * way all the same, and the commits behind it follow.
 */
export function adoption(edited: WorldState, sandbox: Sandbox): Commit {
  const { store, clock } = sandbox
  const at = formatInstant(clock.now)
  const present = { id: CLOCK, ...sandbox.document().clock } as Row
  const copy = Store.from(edited.store)
  const whole = copy.replaceAll(store, at, [[WORLD, present]])
  // Records of the same content are different objects here.
  const changes = (whole?.changes ?? []).filter(({ before, after }) => !same(before, after))
  return { revision: store.revision, at, changes, ...(whole?.order && { order: whole.order }) }
}
