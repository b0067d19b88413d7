import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { run } from '../../src/cli/command-line.ts'
import { Settings } from '../../src/core/assumptions.ts'
import { fitsGlob } from '../../src/core/log/glob.ts'
import { workspaceService } from '../../src/emulator/service.ts'
import { programmeOf } from '../../src/tools/certify/programme.ts'

/** The clients whose cards are on docs/reference/certify.md, with the commands of their adapters. */
export const CLIENTS: Readonly<Record<string, readonly string[]>> = {
  fetch: [process.execPath, 'test/certify/fetch.mjs'],
  got: [process.execPath, 'test/certify/got.mjs'],
  urllib: ['python3', 'test/certify/urllib.py'],
}

/** The result of each case: `passed`, `skipped`, `not reached`, or the codes of the findings. */
export type Cards = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The cases of a client without an adapter: presets that say when to come back, failures, and responses that break. */
const READS =
  'rate-limited,retry-after-http-date,retry-after-fractional,retry-after-zero,retry-after-garbage,retry-after-61s,unavailable-with-retry-after,server-error,rst-before-headers,cut-mid-body,stall-after-headers,html-error-page'
export const PATTERN = `{read/{${READS}},create-*/{rate-limited,server-error,rst-before-headers},create-with-key/lost-response-after-commit}`

const FILE = 'test/certify/cards.json'

export function writeCards(cards: Cards): void {
  const open = (card: Cards[string]) => Object.entries(card).filter(([, result]) => result !== 'passed')
  const all = Object.entries(cards).map(([name, card]) => [name, Object.fromEntries(open(card))])
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
}

/** The cards as they were last written: each case that is not in the file was passed. */
export function writtenCards(): Cards {
  const written = Object.entries(JSON.parse(readFileSync(FILE, 'utf8')) as Cards)
  const cases = programmeOf(workspaceService, new Settings(), true).map(({ name }) => name)
  const few = cases.filter((each) => fitsGlob(PATTERN, each))
  const whole = (name: string, card: Cards[string]) =>
    (name in CLIENTS ? cases : few).map((each) => [each, card[each] ?? 'passed'])
  return Object.fromEntries(written.map(([name, card]) => [name, Object.fromEntries(whole(name, card))]))
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

export async function runCertify(
  flags: readonly string[],
  client: readonly string[],
): Promise<readonly Shown[]> {
  const out: string[] = []
  const terminal = { out: (text: string) => void out.push(text), err: console.error, colours: false }
  await run(['certify', '--json', ...flags, '--', ...client], { PATH: process.env.PATH }, terminal)
  return (JSON.parse(out.join('')) as { cases: Shown[] }).cases
}

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
