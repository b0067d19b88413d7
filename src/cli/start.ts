import { CONTRACT, packageVersion } from '../adapters/package.ts'
import { type PlainKey, readyKeys } from '../core/request/plain-keys.ts'
import { activeOn } from '../core/scenarios/force.ts'
import { formatInstant } from '../core/time/instant.ts'
import type { RunningEmulator } from '../emulator/emulator.ts'
import { type Invocation, OK } from '../terminal/command.ts'
import {
  closeWithReport,
  generatedToken,
  launch,
  loggerOf,
  type StartOptions,
  stateFile,
} from '../terminal/launch.ts'
import { type Line, styled } from '../terminal/line.ts'
import { isNpmScript, type START_OPTIONS } from '../terminal/options.ts'
import { isFollowed, printRequests } from '../terminal/request-printer.ts'
import { untilStopped } from '../terminal/signals.ts'

/** `start`: runs the emulator until a signal ends it. */
export async function start(invocation: Invocation<typeof START_OPTIONS>): Promise<number> {
  const { given, terminal, env } = invocation
  const logger = loggerOf(invocation.options, terminal)
  const token = generatedToken(invocation.options)
  const options = token === undefined ? invocation.options : { ...invocation.options, controlToken: token }
  // A shutdown by a client uses the same path as a signal.
  const starting = launch(options, given, logger, () => process.emit('SIGTERM'))
  const stopped = untilStopped(async (signal) => {
    logger.info(`${signal}: finishing requests in flight; send it again to stop at once`)
    // A signal during the start waits for its end. When the start fails, there is nothing to close.
    const emulator = await starting.catch(() => undefined)
    if (emulator !== undefined) await closeWithReport(emulator, logger)
  }, isNpmScript(env))
  const emulator = await starting
  printRequests(emulator, invocation, isFollowed(options, terminal))
  if (token !== undefined) {
    terminal.err(
      `Warning: on ${options.host}, other machines can reach this emulator. Its control interface requires a token, created for this run: ${token}`,
    )
    terminal.err('Set your own token with --control-token or WORKSPACE_EMULATOR_CONTROL_TOKEN.')
  }
  if (options.json || !options.quiet) {
    const keys = await emulator.plainKeys()
    const facts = factsOf(emulator, options)
    if (options.json) {
      const { base_url, control_url } = facts
      const ready = { base_url, control_url, port: emulator.port, keys: readyKeys(keys) }
      terminal.out(JSON.stringify({ ...ready, control_token: token }))
    } else if (options.logFormat === 'json') logger.info('ready', facts)
    else terminal.lines(banner(facts, keys))
  }
  await stopped
  return OK
}

/** The facts of a started emulator. */
export type Facts = ReturnType<typeof factsOf>

function factsOf({ baseUrl, controlUrl, sandbox }: RunningEmulator, options: StartOptions) {
  return {
    version: packageVersion(),
    contract_version: CONTRACT.version,
    base_url: baseUrl,
    control_url: controlUrl,
    state_file: options.ephemeral ? null : stateFile(options),
    now: formatInstant(sandbox.clock.due()),
    rate: sandbox.clock.rate,
    seed: sandbox.seed,
    scenario: activeOn(sandbox)?.name ?? null,
    /** Number of questions that the specification leaves open and the emulator decides. */
    assumptions: sandbox.service.assumptions.items.size,
  }
}

const MAX_KEYS = 6

/** The lines on stdout when the emulator is ready. */
export function banner(facts: Facts, keys: readonly PlainKey[]): Line[] {
  const { base_url, control_url, state_file, now, rate, seed, scenario, assumptions } = facts
  const rows: readonly (readonly [string, string])[] = [
    ['API', base_url],
    ['Control', control_url],
    ['Dashboard', `${control_url}/ui/`],
    ['State', state_file ?? 'in memory'],
    ['Clock', `${now}, ${rate === 0 ? 'frozen' : `rate ${rate}`}`],
    ['Seed', String(seed)],
    ...(scenario === null ? [] : [['Scenario', scenario] as const]),
    ...keyRows(keys, control_url),
    ['Assumed', `${assumptions} questions that the specification leaves open: ${control_url}/assumptions`],
  ]
  return [
    styled('bold', `Agent Workspace Service emulator ${facts.version}, contract ${facts.contract_version}`),
    '',
    ...rows.map(([name, value]): Line => [styled('dim', `  ${name.padEnd(11)}`), value]),
    '',
    `  ${tryIt(facts, keys)}`,
    '',
  ]
}

function keyRows(keys: readonly PlainKey[], control_url: string): [string, string][] {
  // The sandbox stores only digests: its keys in plain text are only in the fixtures that it was created from.
  if (keys.length === 0)
    return [
      ['Keys', 'the fixtures of this start have no key of the sandbox. Start with the --fixtures'],
      ['', `that it was created from, or write a key: PUT ${control_url}/state/api_keys/NAME`],
      ['', 'with {"kind": "user", "token", "user_id", "organization_id", "teamspace_id"}'],
    ]
  const shown = keys.slice(0, MAX_KEYS)
  const width = shown.reduce((most, { token }) => Math.max(most, token.length), 0)
  const rows = shown.map(({ token, description }, n): [string, string] => [
    n === 0 ? 'Keys' : '',
    `${token.padEnd(width)}  ${description}`,
  ])
  return keys.length > MAX_KEYS ? [...rows, ['', `and ${keys.length - MAX_KEYS} more`]] : rows
}

// Double quotes, since single quotes do not work in the shell of Windows. The newline is for the prompt after the response.
function tryIt({ base_url, control_url }: Facts, keys: readonly PlainKey[]): string {
  const [key] = keys
  if (key === undefined) return `curl -w "\\n" ${control_url}/health`
  return `curl -w "\\n" -H "Authorization: Bearer ${key.token}" ${base_url}/data-views`
}
