import { expect, test } from 'vitest'
import type { RunningEmulator } from '../../src/emulator/emulator.ts'
import { baseCollections, KEYS } from '../support/base-state.ts'
import { alive, dataFolder, killedData } from '../support/data-folder.ts'

const fixtures = { collections: baseCollections } as never

/** Makes one request. @returns the remaining requests of the window of 200 */
async function read({ baseUrl }: RunningEmulator): Promise<number> {
  const response = await fetch(`${baseUrl}/data-views`, { headers: { authorization: `Bearer ${KEYS.KU}` } })
  await response.arrayBuffer()
  return Number(response.headers.get('x-ratelimit-remaining'))
}

test('a clean exit keeps rate windows; a kill does not, since reads are not written to the disk', async () => {
  const data = dataFolder()
  const first = await alive(data, { fixtures })
  for (let n = 1; n <= 5; n++) expect(await read(first.emulator)).toBe(200 - n)
  const killed = await alive(killedData(data), { fixtures })
  expect(await read(killed.emulator)).toBe(199)
  await first.emulator.close()
  const closed = await alive(data, { fixtures })
  expect(await read(closed.emulator)).toBe(194)
})
