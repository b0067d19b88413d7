import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { run } from '../../src/cli/command-line.ts'

/** The clients whose cards are on docs/reference/certify.md, with the commands of their adapters. */
export const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  fetch: [process.execPath, 'test/certify/fetch.mjs'],
  got: [process.execPath, 'test/certify/got.mjs'],
  urllib: ['python3', 'test/certify/urllib.py'],
}

/** The result of each case: `passed`, `skipped`, `not reached`, or the codes of the findings. */
export type Cards = Readonly<Record<string, Readonly<Record<string, string>>>>

const FILE = 'test/certify/cards.json'

/** The cards as they were last written. */
export function writtenCards(): Cards {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Cards
}

/** Certifies a client with its skip file. Throws when its runtime is missing. */
export async function cardOfClient(name: string): Promise<Cards[string]> {
  const [file = '', ...args] = CLIENTS[name] ?? []
  if (spawnSync(file, ['--version']).error !== undefined)
    throw new Error(`${file} is missing. Install it, for example with "apt-get install ${file}".`)
  // Clients that never retry say so: giving up is then right.
  const never = ['fetch', 'urllib'].includes(name) ? ['--retries', '0'] : []
  const flags = ['--adapter', ...never, '--skip-from', `test/certify/${name}.skip`]
  return resultsOf(await runCertify(flags, [file, ...args]))
}

/** Runs `certify` in this process. */
export async function runCertify(
  flags: readonly string[],
  client: readonly string[],
): Promise<readonly Shown[]> {
  const out: string[] = []
  const terminal = { out: (text: string) => void out.push(text), err: console.error, colours: false }
  await run(['certify', '--json', ...flags, '--', ...client], { PATH: process.env.PATH }, terminal)
  return (JSON.parse(out.join('')) as { cases: Shown[] }).cases
}

/** The card of a client: the result of each case. */
export function resultsOf(cases: readonly Shown[]): Record<string, string> {
  return Object.fromEntries(cases.map((each) => [each.case, resultOf(each)]))
}

export interface Shown {
  readonly case: string
  readonly result: string
  readonly findings: readonly { readonly code: string; readonly severity: string; readonly message: string }[]
}

// Messages have figures that differ from run to run.
function resultOf({ result, findings }: Shown): string {
  const codes = findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
  return result === 'failed' ? [...new Set(codes)].join(', ') : result.replace('_', ' ')
}
