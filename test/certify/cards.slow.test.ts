import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CLIENTS, cardOfClient, writtenCards } from './cards.ts'

test.for(Object.keys(CLIENTS))(
  'the card of %s is as it was written; npm run cards updates it',
  // On a busy machine, a client that does not wait may come so late that it seems to have waited.
  { retry: 1 },
  async (name) => {
    expect(await cardOfClient(name)).toEqual(writtenCards()[name])
  },
)

test.for(Object.values(CLIENTS))('the adapter %j has at most 80 lines', (words) => {
  const lines = readFileSync(words.at(-1) ?? '', 'utf8')
    .trimEnd()
    .split('\n')
  expect(lines.length).toBeLessThanOrEqual(80)
})
