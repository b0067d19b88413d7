import { readFixtures } from '../../src/adapters/fixtures.ts'
import { isObject } from '../../src/core/json.ts'
import { COUNTERS, SANDBOX_TABLE } from '../../src/core/state/state.ts'
import { formatDuration } from '../../src/core/time/instant.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { START } from './base-state.ts'
import { builtState, startAt } from './built-state.ts'

/**
 * The text of `fixtures/demo.seed-1.json`: the records of demo as they are after their check, and those that faker generates for
 * the default seed, one on each line.
 */
export async function readyRecordsOfDemo(): Promise<string> {
  const fixtures = { ...(await readFixtures('demo')), ready: undefined }
  const now = Date.parse(START)
  const { store } = await builtState(fixtures, startAt(now), workspaceService)
  const rowsOf = (name: string) => [...store.rows(name).values()]
  const generated = (name: string) => Number(fixtures.generate[name] ?? 0)
  const lists = (rows: (name: string) => readonly object[]): string =>
    [...workspaceService.collections.keys()]
      .filter((name) => rows(name).length > 0)
      .map((name) => {
        const lines = rows(name).map((row) => JSON.stringify(row, (key, value) => relative(key, value, now)))
        return `    ${JSON.stringify(name)}: [\n      ${lines.join(',\n      ')}\n    ]`
      })
      .join(',\n')
  const counters = store.get(SANDBOX_TABLE, COUNTERS)
  if (!isObject(counters)) throw new Error('The state has no counters.')
  return [
    '{\n  "seed": 1',
    `  "counters": ${JSON.stringify({ ids: counters.ids, uuids: counters.uuids })}`,
    `  "given": {\n${lists((name) => rowsOf(name).slice(0, rowsOf(name).length - generated(name)))}\n  }`,
    `  "generated": {\n${lists((name) => rowsOf(name).slice(rowsOf(name).length - generated(name)))}\n  }\n}\n`,
  ].join(',\n')
}

function relative(key: string, value: unknown, now: number): unknown {
  if (!key.endsWith('_at') || typeof value !== 'string') return value
  const ago = now - Date.parse(value)
  return `${ago < 0 ? '+' : '-'}${formatDuration(Math.abs(ago))}`
}
