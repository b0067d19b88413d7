import { successRead } from '../../kernel/open-items.ts'
import { operation } from '../../kernel/operation.ts'
import type { Caller } from '../../kernel/request/auth.ts'
import type { Transaction } from '../../kernel/state/store.ts'
import { opaqueList, opaqueListAnswer, refuseStrict, uncontracted } from '../opaque.ts'
import { requireVisible } from '../visible.ts'
import { type Agent, agents } from './schema.ts'

/** An agent of the caller's teamspace, or `not_found`. */
export function requireAgent(tx: Transaction, caller: Caller, id: string | undefined): Agent {
  return requireVisible(tx, agents, id, ({ _emulator }) => _emulator.teamspace_id === caller.teamspace_id)
}

export const listAgents = operation({
  ...uncontracted,
  name: 'agents.list',
  method: 'GET',
  path: '/agents',
  summary: 'List agents',
  success: successRead,
  answer: opaqueListAnswer,
  find: ({ settings }) => refuseStrict(settings, 'agents.list'),
  handle: (request) => {
    const { tx, caller } = request
    const own = tx.in(agents).filter(({ _emulator }) => _emulator.teamspace_id === caller.teamspace_id)
    return { body: opaqueList(own, request) }
  },
})
