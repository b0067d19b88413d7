import { expect, test } from 'vitest'
import { workspaceService } from '../../src/emulator/service.ts'
import { contractOf } from '../../src/server/control/coverage/points.ts'

const { points } = contractOf(workspaceService)

test('the points of the contract are those of the committed list', async () => {
  const lines = points.map(({ id }) => `${id}\n`)
  await expect(lines.join('')).toMatchFileSnapshot('points.txt')
})

test('each point has one id, and a way to meet it', () => {
  expect(new Set(points.map(({ id }) => id)).size).toBe(points.length)
  expect(points.filter(({ how }) => how === '')).toEqual([])
})

test('points are in the order of their cost: a plain call first, exact sizes last', () => {
  const kinds = points.map(({ kind }) => kind)
  expect(points[0]?.id).toMatch(/^status \S+ 20[014]$/)
  expect(kinds.at(-1)).toBe('bound')
  expect([...new Set(kinds)]).toEqual(['status', 'error', 'enum', 'event', 'transition', 'bound'])
})
