import { findingsFrom } from '../../core/conduct/finding-lines.ts'
import { conductOf } from '../../core/conduct/report.ts'
import type { LogEntry } from '../../core/log/request-log.ts'
import { TASKS } from '../../service/client-tasks.ts'
import { FAILED, OK } from '../../terminal/command.ts'
import { linesOf, show } from '../../terminal/print.ts'
import { type CaseStage, onStage, type Setup, startClient } from '../client-process.ts'
import { NOT_REACHED } from '../exit-codes.ts'
import { SERIOUS } from './case.ts'
import { prepared } from './commands.ts'

/** Copies that one second serves, as a share of all of them: a herd needs four seconds. */
const SHARE = 1 / 4

/** Real milliseconds within which retries count as simultaneous. */
const SAME = 10

/** Runs copies of a client in one sandbox whose limits they share, and shows their attempts. Resolves with the exit code. */
export async function runCopies(setup: Setup): Promise<number> {
  const { clients, adapter, retries } = setup.options
  const limit = Math.ceil(clients * SHARE)
  const operations = [...setup.emulator.sandbox.service.operations.keys()]
  const overrides = operations.map((operation) => ({ operation, limit, window_s: 1 }))
  return onStage(setup, { name: 'copies', seed: 1 }, { 'limits.overrides': overrides }, async (stage) => {
    const keys = await keysOf(stage, clients)
    const subject = adapter ? await prepared(stage, ['get']) : undefined
    await stage.client.requests.clear()
    const isServed = async (key: string): Promise<boolean> => {
      const env = { ...stage.env, WORKSPACE_API_KEY: key }
      const copy = startClient(setup.command, env, setup.limit, adapter ? 'answers' : 'ignored')
      const answer =
        subject && (await copy.ask({ command: 'get', ...TASKS.get?.arguments(subject, undefined) }))
      await copy.over()
      const { code } = await copy.end()
      return adapter ? answer?.ok !== undefined : code === OK
    }
    const served = (await Promise.all(keys.map(isServed))).filter(Boolean).length
    const entries = stage.sandbox.log.entries()
    const findings = conductOf(stage.sandbox, entries, { retries }).data
    const report = { clients, limit_per_second: limit, served, ...attemptsIn(entries) }
    const verdicts = new Set(findings.map(({ severity, code }) => `${severity} ${code}`))
    show(setup, { ...report, findings }, [...linesOf(report), ...verdicts])
    if (served < clients || findingsFrom(findings, SERIOUS).length > 0) return FAILED
    return report.refused === 0 ? NOT_REACHED : OK
  })
}

/** Each copy has its own key, so that its requests can be told from those of the others; the teamspace has the limit. */
async function keysOf({ sandbox, client }: CaseStage, count: number): Promise<string[]> {
  const [first] = sandbox.store.rows('api_keys').values()
  const tokens = Array.from({ length: count }, (_, n) => `live_certify_${n + 1}`)
  for (const token of tokens) await client.state.put('api_keys', { ...first, id: token, token })
  return tokens
}

/** The attempts of all copies. A retry is a request after a refused one of the same key to the same path. */
function attemptsIn(entries: readonly LogEntry[]) {
  const waiting = new Set<string>()
  const retries: number[] = []
  const served: number[] = []
  for (const { caller, method, path, status, timing } of entries) {
    const call = `${caller?.key_id} ${method} ${path}`
    const arrived = timing?.began ?? 0
    if (waiting.delete(call)) retries.push(arrived)
    if (status === 429) waiting.add(call)
    else served.push(arrived)
  }
  const requests = entries.length
  const began = entries[0]?.timing?.began ?? 0
  const together = retries.map((at) => retries.filter((each) => each >= at && each < at + SAME).length)
  return {
    requests,
    refused: requests - served.length,
    attempts_per_call: Math.round((requests / Math.max(1, requests - retries.length)) * 100) / 100,
    most_retries_in_10_ms: together.reduce((most, count) => Math.max(most, count), 0),
    /** From the first request to the last one that was not refused, in real time. */
    served_after_ms: Math.round((served.at(-1) ?? began) - began),
  }
}
