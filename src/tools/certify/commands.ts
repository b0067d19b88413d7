import type { Finding } from '../../core/conduct/finding.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import { SECOND } from '../../core/time/instant.ts'
import { nextType } from '../../core/tomorrow.ts'
import { sign } from '../../core/webhooks/message.ts'
import { prepareTasks, TASKS, type TaskSubject, WEBHOOK } from '../../service/client-tasks.ts'
import type { CaseStage, ClientProcess } from '../client-process.ts'
import { type Case, WEBHOOKS } from './programme.ts'
import { conclusionFindings } from './verdicts.ts'

/** Creates the records that the commands of a case are about. */
export function prepared({ client, sandbox }: CaseStage, [first]: readonly string[]) {
  const [key] = sandbox.store.rows('api_keys').values() as Iterable<{ readonly teamspace_id: string }>
  return prepareTasks(client, key?.teamspace_id ?? '', first)
}

/** The facts that the answer to a command is compared with. */
async function truthOf(name: string, { client }: CaseStage, subject: TaskSubject, { webhook }: Case) {
  if (webhook !== undefined) return { isGenuine: !webhook.isForged && webhook.age <= TOLERANCE }
  return (await TASKS[name]?.truth?.(client, subject)) ?? {}
}

/** What the client of an adapter concluded. */
export type Concluded = Awaited<ReturnType<typeof conclusions>>

/** Gives the commands to an adapter. @returns the findings, and a command that it does not support */
export async function conclusions(client: ClientProcess, stage: CaseStage, each: Case, subject: TaskSubject) {
  const { log, clock } = stage.sandbox
  let findings: readonly Finding[] = []
  let { id } = subject
  for (const name of each.commands) {
    const about = { ...subject, id }
    const own = TASKS[name]?.arguments(about, each.hasKey ? 'order-1' : undefined)
    const command = { command: name, ...(own ?? webhookOf(each, clock.due())) }
    const before = new Set(log.entries().map((entry) => entry.id))
    const answer = await client.ask(command)
    if (answer === undefined && client.isLate()) break
    if (answer?.unsupported) return { findings, unsupported: name }
    const entries = log.entries().filter((entry) => !before.has(entry.id))
    const truth = await truthOf(name, stage, about, each)
    findings = [...findings, ...conclusionFindings({ command, answer, entries, faults: each.faults, truth })]
    if (answer?.ok === undefined) break
    if (isObject(answer.ok) && typeof answer.ok.id === 'string') id ||= answer.ok.id
    if (id === '') break
  }
  return { findings, unsupported: undefined }
}

const SECRET = 'certify-secret'

/** Seconds after which a webhook is too old. */
const TOLERANCE = 300

/** The arguments of `verify_webhook`. @param now virtual milliseconds */
function webhookOf({ webhook, tomorrow }: Case, now: number): JsonObject {
  const { age, isForged } = webhook ?? WEBHOOKS.genuine
  const body = JSON.stringify(WEBHOOK.sample)
  const now_s = Math.floor(now / SECOND)
  const timestamp = String(now_s - age)
  const signature = `sha256=${sign(Buffer.from(`${timestamp}.${body}${isForged ? ' ' : ''}`), SECRET)}`
  const own = tomorrow && { 'X-Emulator-Event': nextType(WEBHOOK.type) }
  const headers = { ...own, 'X-Timestamp': timestamp, 'X-Signature': signature }
  return { body, headers, secret: SECRET, tolerance_s: TOLERANCE, now_s }
}
