import { expect, test } from 'vitest'
import type { Preset } from '../preset.ts'
import type { Action } from '../primitive.ts'
import { changeActions, parameterHelp, parametersOf, whenOf } from './parameters.ts'

function preset(...actions: readonly Action[]): Preset {
  return { name: 'any', family: 'retry', description: 'Something.', match: 'everything', do: actions }
}

const ALL = preset(
  { quota: { reject: true } },
  { respond: { status: 500 } },
  { cut: { at: 'before-head', how: 'fin' } },
  { pace: { bytes: 1 } },
  { auth: { expire_after_calls: 1 } },
  { state: { visible_after_reads: 1 } },
)

test('every parameter that a preset takes is described, once', () => {
  const described = parameterHelp(ALL).flatMap(({ names }) => names)
  expect(described.toSorted()).toEqual(parametersOf(ALL).toSorted())
  expect(parametersOf(preset({ clock: { freeze: true } }))).toEqual(
    'nth first after every probability by times ttl then label'.split(' '),
  )
})

test('a parameter changes the first action that has a place for it, and nothing else', () => {
  const both = preset({ respond: { status: 500 } }, { head: { status: 418 } }, { respond: { status: 501 } })
  const { actions, places } = changeActions(both, new Map([['status', 503]]))
  expect(actions).toEqual([
    { respond: { status: 503 } },
    { head: { status: 418 } },
    { respond: { status: 501 } },
  ])
  expect([...places]).toEqual([['/do/0/respond/status', 'status']])
  expect(both.do?.[0]).toEqual({ respond: { status: 500 } })
})

test('seconds go into the quota, or else into a header of the answer beside those it has', () => {
  const seconds = new Map([['in', 7]])
  expect(changeActions(ALL, seconds).actions[0]).toEqual({ quota: { reject: true, reset_in_s: 7 } })
  const answer = preset({ respond: { status: 503, headers: { 'Retry-After': '2', Via: 'x' } } })
  expect(changeActions(answer, seconds).actions).toEqual([
    { respond: { status: 503, headers: { 'Retry-After': '7', Via: 'x' } } },
  ])
})

test('without parameters a rule of the header fires once for each operation and idempotency key', () => {
  const by = ['operation', 'idempotency_key']
  expect(whenOf(ALL, new Map())).toEqual({ nth: 1, by })
  expect(whenOf({ ...ALL, when: { nth: 1 } }, new Map())).toEqual({ nth: 1, by })
  expect(whenOf({ ...ALL, when: { nth: 2 } }, new Map())).toEqual({ nth: 2, by })
  expect(whenOf({ ...ALL, when: { by: 'resource_id' } }, new Map())).toEqual({ by: 'resource_id' })
  expect(whenOf({ ...ALL, when: { by: 'tag' } }, new Map([['every', 2]]))).toEqual({ every: 2, by: 'tag' })
  expect(whenOf(ALL, new Map([['times', 2]]))).toEqual({ by })
})
