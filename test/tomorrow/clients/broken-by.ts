import { readFileSync } from 'node:fs'
import { TOMORROW_KINDS } from '../../../src/core/tomorrow.ts'

/** Clients that check responses at run time, with their files in this folder. */
export const CLIENTS: Readonly<Record<string, string>> = {
  'the correct client of the gallery': 'correct.mjs',
  'Hey API, SDK with zod': 'hey-api.mjs',
  'orval, zod': 'orval.mjs',
  'orval, zod with `strict`': 'orval-strict.mjs',
  'Ajv with the OpenAPI document': 'ajv.mjs',
  pydantic: 'pydantic_client.py',
  'pydantic with `extra = "forbid"`': 'pydantic_client.py forbid',
}

export type BrokenBy = Readonly<Record<string, readonly string[]>>

export const FILE = 'test/tomorrow/clients/broken-by.json'

/** The table of docs/guide/faults.md: at how many calls each client fails, by the kind of change. Webhooks are no calls. */
export function brokenByTable(): [head: string[], rows: string[][]] {
  const all = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, BrokenBy>>
  const kinds = TOMORROW_KINDS.filter((kind) => kind !== 'event')
  const rows = Object.keys(CLIENTS).map((name) => [
    name,
    ...kinds.map((kind) => {
      const failed = all[name]?.[kind]?.length ?? 0
      return failed === 0 ? 'works' : `fails at ${failed} of 7 calls`
    }),
  ])
  return [['client', ...kinds.map((kind) => `\`${kind}\``)], rows]
}
