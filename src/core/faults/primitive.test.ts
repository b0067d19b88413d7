import { expect, test } from 'vitest'
import { ruleOf } from '../../../test/support/fault-book.ts'
import { serviceFacts, workspaceService } from '../../emulator/service.ts'
import { auth } from './auth.ts'
import type { Phase } from './primitive.ts'
import { type FaultRule, phaseOf } from './rule.ts'

test.for<[rule: Partial<FaultRule>, phase: Phase]>([
  [{ do: [] }, 'call'],
  [{ do: [{ respond: { status: 500 } }] }, 'call'],
  [{ do: [{ cut: { at: 'accept', how: 'rst' } }] }, 'accept'],
  [{ do: [{ cut: { at: 'before-read', how: 'rst' } }] }, 'head'],
  [{ do: [{ cut: { at: 'after-request-head', how: 'pause' } }] }, 'head'],
  [{ do: [{ cut: { at: { request_bytes: 5 }, how: 'rst' } }] }, 'head'],
  [{ do: [{ cut: { at: 'before-handler', how: 'rst' } }] }, 'call'],
  [{ do: [{ cut: { at: { bytes: 5 }, how: 'rst' } }] }, 'call'],
  [{ do: [{ pace: { no_continue: true } }] }, 'head'],
  [{ do: [{ pace: { no_continue: false, before_head_ms: 5 } }] }, 'call'],
  [{ do: [{ pace: { stall_at: 'before-read' } }] }, 'head'],
  [{ do: [{ cut: { at: 'end', how: 'rst' } }, { cut: { at: 'accept', how: 'rst' } }] }, 'accept'],
  [{ match: { webhook: '*' } }, 'webhook'],
  [{ match: { method: 'GET' } }, 'call'],
  [{ match: { webhook: '*' }, do: [{ cut: { at: 'accept', how: 'rst' } }] }, 'webhook'],
  [{ do: [], actions: { late: [], early: [{ cut: { at: 'before-read', how: 'rst' } }] } }, 'head'],
])('the rule %j is decided in the phase %s', ([rule, phase]) => {
  expect(phaseOf(ruleOf('r', rule), workspaceService.primitives)).toBe(phase)
})

test('a primitive that does nothing does not compile', () => {
  const { effect: _, ...parts } = auth
  // @ts-expect-error: it has no effect
  const silent: typeof auth = parts
  // @ts-expect-error: its effect has no hook
  const idle: typeof auth = { ...parts, effect: {} }
  const { schema: __, ...unchecked } = auth
  // @ts-expect-error: it has no schema, so that no rule could name it
  const unnamed: typeof auth = unchecked
  expect([silent.name, idle.name, unnamed.name]).toEqual(['auth', 'auth', 'auth'])
})

test('every primitive has a name that no other has', () => {
  const names = serviceFacts.primitives.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
})
