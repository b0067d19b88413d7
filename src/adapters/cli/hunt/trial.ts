import type { Finding } from '../../../core/conduct/finding.ts'
import { conductOf } from '../../../core/conduct/report.ts'
import { arm, checkDraft } from '../../../core/faults/arm.ts'
import type { FaultDraft } from '../../../core/faults/rule.ts'
import { standingOf } from '../../../core/faults/standing.ts'
import type { LogEntry } from '../../../core/log/request-log.ts'
import type { RecordingBundle } from '../../../core/record/bundle.ts'
import { change } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import type { Service } from '../../../core/service.ts'
import { elapsedTime } from '../../../core/time/clock.ts'
import { formatInstant } from '../../../core/time/instant.ts'
import { deliveries } from '../../../core/webhooks/records.ts'
import { SILENT } from '../../../options.ts'
import { later } from '../../realtime.ts'
import { settled } from '../certify/case.ts'
import { CommandFailed } from '../command.ts'
import { variablesOf } from '../exec.ts'
import { Child } from '../exec-child.ts'
import { Tally } from '../exec-summary.ts'
import { launch, type StartOptions } from '../launch.ts'
import type { Environment, OptionName } from '../options.ts'

/** How the command is run. */
export interface HuntSetup {
  readonly command: readonly string[]
  readonly options: StartOptions
  readonly given: ReadonlySet<OptionName>
  readonly env: Environment
  /** Whether sandboxes are recorded. */
  readonly isRecorded: boolean
}

/** What one run of the command shows. */
export interface Trial {
  readonly exit_code: number
  readonly signal: string | null
  /** Whether it still ran at its time limit. */
  readonly isLate: boolean
  /** Real milliseconds. */
  readonly ms: number
  /** The end of its output, both streams, without colours. */
  readonly output: string
  /** The requests to all sandboxes, in order. */
  readonly entries: readonly LogEntry[]
  /** The findings about its client. */
  readonly findings: readonly Finding[]
  /** How many webhooks were sent. */
  readonly deliveries: number
  readonly service: Service
  /** How many of the rules have fired. */
  readonly fired: number
  /** The recordings of sandboxes in which a rule has fired. */
  readonly recordings: readonly RecordingBundle[]
}

/** The most characters of the output that are kept. */
const MAX_OUTPUT = 64_000

/** The most sandboxes that are recorded. */
const MAX_RECORDED = 5

/**
 * Runs the command once with an emulator of its own, in whose sandboxes the rules are armed, also in those that it creates.
 * @param limit real milliseconds after which it is ended
 * @returns undefined when a rule cannot be armed
 */
export async function tryOut(
  { command, options, given, env, isRecorded }: HuntSetup,
  rules: readonly FaultDraft[],
  limit: number,
): Promise<Trial | undefined> {
  const emulator = await launch(options, given, SILENT)
  const entries: LogEntry[] = []
  const seen: Sandbox[] = []
  let findings: readonly Finding[] = []
  const tally = new Tally()
  let [sent, refusal]: [number, unknown] = [0, undefined]
  const prepare = (sandbox: Sandbox): void => {
    if (isRecorded) seen.push(sandbox)
    sandbox.log.onEntry((entry) => void entries.push(entry))
    sandbox.onClosed(() => {
      const { data } = conductOf(sandbox, sandbox.log.entries(), { except: ['fault.not-met'] })
      findings = findings.concat(data)
      sent += sandbox.store.rows(deliveries.name).size
    })
    try {
      armIn(sandbox, rules)
      tally.watch(sandbox)
    } catch (error) {
      refusal ??= error
    }
  }
  try {
    for (const { sandbox } of emulator.sandboxes.list()) prepare(sandbox)
    if (refusal !== undefined) return undefined
    emulator.sandboxes.onMade(prepare)
    const { service } = emulator.sandbox
    const variables = await variablesOf(emulator, options, SILENT)
    const run = await runWithin(limit, command, { ...env, ...variables })
    await settled(entries)
    const recordings = await Promise.all(faulted(seen).map((each) => emulator.record(each)))
    await emulator.close()
    return {
      ...run,
      service,
      entries,
      findings,
      deliveries: sent,
      fired: tally.faults.filter((rule) => rule.fired > 0).length,
      recordings,
    }
  } finally {
    await emulator.close()
  }
}

/** The sandboxes in which a rule has fired. Those that still exist have precedence: fixtures keep the ones of failed tests. */
function faulted(seen: readonly Sandbox[]): Sandbox[] {
  const hit = seen.filter(({ store, faults, clock, options, recording }) => {
    const time = { now: clock.now, wall: options.host() }
    return recording.hasRequests && faults.rules.some((rule) => standingOf(store, rule, time).fired > 0)
  })
  const existing = hit.filter(({ closedReason }) => closedReason === undefined)
  return (existing.length > 0 ? existing : hit).slice(0, MAX_RECORDED)
}

function armIn(sandbox: Sandbox, rules: readonly FaultDraft[]): void {
  for (const rule of rules) {
    const checked = checkDraft(rule, sandbox.service, sandbox.settings)
    if ('issues' in checked) throw new Error(checked.issues.map(({ detail }) => detail).join(', '))
    const wall = formatInstant(sandbox.options.host())
    change(sandbox, (scope) => arm(scope, sandbox.service, checked.draft, 'control', wall))
  }
}

async function runWithin(limit: number, command: readonly string[], env: Environment) {
  let [output, isLate] = ['', false]
  const child = new Child(({ stdin, stdout, stderr }) => {
    stdin?.on('error', () => {}).end()
    for (const stream of [stdout, stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        output = (output + text).slice(-MAX_OUTPUT)
      })
  })
  const began = elapsedTime()
  const cancel = later(limit, () => {
    isLate = true
    child.kill()
  })
  const { code, signal, failure } = await child.run(command, env)
  cancel()
  if (failure !== undefined) throw new CommandFailed(failure)
  const ms = Math.round(elapsedTime() - began)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of colours begin with one.
  return { exit_code: code, signal, isLate, ms, output: output.replaceAll(/\u001b\[[\d;]*m/g, '') }
}
