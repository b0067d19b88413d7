import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { contractOf } from '../../src/server/control/coverage/points.ts'

const { points } = contractOf(workspaceService)

test('the points of the contract are those of the committed list', async () => {
  // The points whose ids differ in their last word are on one line.
  const lines = new Map<string, string>()
  for (const { id } of points) {
    const end = id.lastIndexOf(' ')
    const first = id.slice(0, end)
    lines.set(first, (lines.get(first) ?? first) + id.slice(end))
  }
  await expect(`${[...lines.values()].join('\n')}\n`).toMatchFileSnapshot('points.txt')
})

test('each point has one id, and a way to meet it', () => {
  expect(new Set(points.map(({ id }) => id)).size).toBe(points.length)
  expect(points.filter(({ how }) => how === '')).toEqual([])
})

test('points are in the order of their cost: plain calls first, then those that are refused, exact sizes last', () => {
  const kinds = points.map(({ kind }) => kind)
  expect([...new Set(kinds)]).toEqual(['status', 'error', 'enum', 'event', 'transition', 'bound'])
  expect(kinds.at(-1)).toBe('bound')
  const isRefused = points.filter(({ kind }) => kind === 'status').map(({ id }) => !/ 20[014]$/.test(id))
  expect(isRefused.indexOf(true)).toBe(isRefused.lastIndexOf(false) + 1)
})
