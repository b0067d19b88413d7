import { statSync } from 'node:fs'
import type { Finding } from '../../core/conduct/finding.ts'
import { conductOf } from '../../core/conduct/report.ts'
import { arm } from '../../core/faults/arm.ts'
import { type FaultCounter, type FaultDraft, faultCounters } from '../../core/faults/rule.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import { change } from '../../core/sandboxes/change.ts'
import type { Sandbox } from '../../core/sandboxes/sandbox.ts'
import { formatInstant } from '../../core/time/instant.ts'
import { deliveries } from '../../core/webhooks/records.ts'
import { SILENT } from '../../emulator/options.ts'
import type { Invocation } from '../../terminal/command.ts'
import { launch, type StartOptions, variablesOf } from '../../terminal/launch.ts'
import { Tally } from '../../terminal/tally.ts'
import { readText } from '../../terminal/text-file.ts'
import { settled } from '../certify/case.ts'
import { startClient } from '../client-process.ts'
import type { HUNT_OPTIONS } from '../options.ts'
import { reportedErrors } from './runner-errors.ts'

export type HuntInvocation = Invocation<typeof HUNT_OPTIONS>

/** How the command is run. */
export interface HuntSetup extends HuntInvocation {
  readonly command: readonly string[]
  /** Those of the emulator of each run. */
  readonly start: StartOptions
}

/** What one run of the command shows. */
export type Trial = Awaited<ReturnType<typeof tryOut>>

/** The most sandboxes that are recorded. */
const MAX_RECORDED = 5

/**
 * Runs the command once with an emulator of its own, in whose sandboxes the rules are armed, also in those that it creates.
 * @param limit real milliseconds after which it is ended
 */
export async function tryOut(setup: HuntSetup, rules: readonly FaultDraft[], limit: number) {
  const { command, start, options, given, env } = setup
  const emulator = await launch(start, given, SILENT)
  const entries: LogEntry[] = []
  const seen: Sandbox[] = []
  const tally = new Tally()
  let findings: readonly (Finding & { readonly operation: string | undefined })[] = []
  let sent = 0
  const prepare = (sandbox: Sandbox): void => {
    if (options.findings !== undefined) seen.push(sandbox)
    sandbox.log.onEntry((entry) => void entries.push(entry))
    sandbox.listeners.onClosed(() => {
      const { data } = conductOf(sandbox, sandbox.log.entries(), { except: ['fault.not-met'] })
      const operationOf = ({ requests: [id = ''] }: Finding) => sandbox.log.find(id)?.operation
      findings = [...findings, ...data.map((each) => ({ ...each, operation: operationOf(each) }))]
      sent += sandbox.store.rows(deliveries.name).size
    })
    const wall = formatInstant(sandbox.options.host())
    change(sandbox, (scope) => {
      for (const rule of rules) arm(scope, sandbox.service, rule, 'control', wall)
    })
    tally.watch(sandbox)
  }
  try {
    for (const { sandbox } of emulator.sandboxes.list()) prepare(sandbox)
    emulator.sandboxes.onMade(prepare)
    const variables = await variablesOf(emulator, start, SILENT)
    const junitTime = () => statSync(options.junit ?? '', { throwIfNoEntry: false })?.mtimeMs
    const before = junitTime()
    // Runners cut messages to the width of a terminal.
    const client = startClient(command, { ...env, COLUMNS: '1000', ...variables }, limit, 'kept')
    await client.over()
    const isLate = client.isLate()
    const { code: exit_code, signal, ms, output } = await client.end()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences of colours begin with one.
    const plain = output.replaceAll(/\u001b\[[\d;]*m/g, '')
    const hasJunit = junitTime() !== before
    const junit = hasJunit && options.junit ? readText(options.junit, 'Let the command write a file.') : ''
    await settled(entries)
    const recordings = await Promise.all(faulted(seen).map((each) => emulator.record(each)))
    await emulator.close()
    return {
      exit_code,
      signal,
      /** Whether it still ran at its time limit. */
      isLate,
      /** Real milliseconds. */
      ms,
      /** The end of its output, both streams, without colours. */
      output: plain,
      errors: reportedErrors(plain, junit),
      hasJunit,
      /** The requests to all sandboxes, in order. */
      entries,
      /** The findings about its client, each with the operation of its first request. */
      findings,
      /** How many webhooks were sent. */
      deliveries: sent,
      service: emulator.sandbox.service,
      /** How many of the rules have fired. */
      fired: tally.faults.filter((rule) => rule.fired > 0).length,
      /** The recordings of sandboxes in which a rule has fired. */
      recordings,
    }
  } finally {
    await emulator.close()
  }
}

/** The sandboxes in which a rule has fired. Those that still exist have precedence: fixtures keep the ones of failed tests. */
function faulted(seen: readonly Sandbox[]): Sandbox[] {
  const hit = seen.filter(({ store, recording }) => {
    const counters = [...store.rows(faultCounters.name).values()] as unknown as FaultCounter[]
    return recording.hasRequests && counters.some(({ fired }) => fired > 0)
  })
  const existing = hit.filter(({ listeners }) => listeners.closedReason === undefined)
  return (existing.length > 0 ? existing : hit).slice(0, MAX_RECORDED)
}
