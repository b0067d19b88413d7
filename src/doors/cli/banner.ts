import type { PlainKey } from '../plain-keys.ts'

/** What a start has to say about itself. */
export interface Facts {
  readonly version: string
  readonly contract_version: string
  readonly base_url: string
  readonly control_url: string
  /** Path of the state file; null when everything is in memory. */
  readonly state_file: string | null
  /** ISO 8601. */
  readonly now: string
  readonly rate: number
  readonly seed: number
  /** The scenario that is active; null for none. */
  readonly scenario: string | null
  /** How many things the specification leaves open and this emulator decides. */
  readonly assumptions: number
}

const MOST_KEYS = 6

/** What people see when the emulator is ready. */
export function banner(facts: Facts, keys: readonly PlainKey[]): string {
  const { base_url, control_url, state_file, now, rate, seed, scenario, assumptions } = facts
  const rows: readonly (readonly [string, string])[] = [
    ['API', base_url],
    ['Control', control_url],
    ['State', state_file ?? 'in memory'],
    ['Clock', `${now}, ${rate === 0 ? 'frozen' : `rate ${rate}`}`],
    ['Seed', String(seed)],
    ...(scenario === null ? [] : [['Scenario', scenario] as const]),
    ...keyRows(keys),
    ['Assumed', `${assumptions} things that the specification leaves open: ${control_url}/assumptions`],
  ]
  return [
    `Agent Workspace Service emulator ${facts.version}, contract ${facts.contract_version}`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(9)}${value}`),
    '',
    `  ${tryIt(facts, keys)}`,
    '',
  ].join('\n')
}

function keyRows(keys: readonly PlainKey[]): [string, string][] {
  const shown = keys.slice(0, MOST_KEYS)
  const width = Math.max(0, ...shown.map(({ token }) => token.length))
  const rows = shown.map(({ token, says }, n): [string, string] => [
    n === 0 ? 'Keys' : '',
    `${token.padEnd(width)}  ${says}`,
  ])
  return keys.length > MOST_KEYS ? [...rows, ['', `and ${keys.length - MOST_KEYS} more`]] : rows
}

// Double quotes: single ones mean nothing to the shell of Windows.
function tryIt({ base_url, control_url }: Facts, keys: readonly PlainKey[]): string {
  const [key] = keys
  if (key === undefined) return `curl ${control_url}/health`
  return `curl -H "Authorization: Bearer ${key.token}" ${base_url}/data-views`
}
