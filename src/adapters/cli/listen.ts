import type { Delivery } from '../../core/webhooks/records.ts'
import type { SandboxInvocation } from './command.ts'
import { controlOf } from './control-client.ts'
import { follow } from './follow.ts'
import type { OptionValues } from './options.ts'
import { harmless } from './print.ts'

type ListenInvocation = SandboxInvocation & {
  readonly options: OptionValues<'forwardTo' | 'event' | 'secret'>
}

/**
 * `webhook listen`: subscribes a receiver or the inbox, prints each delivery attempt, and removes the subscription at the end.
 * The emulator itself sends the webhooks, so signatures, retries and faults work as usual.
 */
export async function listenForWebhooks(invocation: ListenInvocation): Promise<number> {
  const { options, terminal } = invocation
  const ask = controlOf(options)
  const made = await ask('POST /webhooks', { body: subscription(options.forwardTo, options) })
  const id = made.id ?? ''
  const stopped = new AbortController()
  const stop = (): void => stopped.abort()
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    return await follow(invocation, { types: ['delivery'], signal: stopped.signal }, async (event) => {
      const receiver = options.forwardTo ?? 'the built-in inbox'
      if (event.type === 'hello') terminal.err(`Listening: ${receiver} is subscribed. Ctrl-C ends it.`)
      if (event.type !== 'delivery') return
      const { data } = await ask('GET /webhooks/deliveries')
      const delivery = data.find((each) => event.data.ref === `webhook_deliveries/${each.id}`)
      if (delivery?.webhook_id !== id) return
      if (options.json) terminal.out(JSON.stringify(delivery))
      else for (const line of linesFor(delivery)) terminal.out(harmless(line))
    })
  } finally {
    process.off('SIGINT', stop)
    process.off('SIGTERM', stop)
    // An emulator that has ended has no subscription any more.
    await ask('DELETE /webhooks/{id}', { params: { id } }).catch(() => {})
  }
}

function linesFor({ id, type, ref, body, status, attempts }: Delivery): string[] {
  const last = attempts.at(-1)
  const outcome =
    last?.status === null || last === undefined ? (last?.error ?? status) : `HTTP ${last.status}`
  return [
    `${last?.at ?? ''}  ${type} about ${ref}, attempt ${last?.attempt ?? 0}: ${outcome}  ${id}`,
    `  ${JSON.stringify(body)}`,
  ]
}

interface Wanted {
  readonly event: readonly string[]
  readonly secret?: string | undefined
}

/** A subscription as the control interface accepts it. @param url of the receiver; absent: the inbox */
export function subscription(url: string | undefined, { event, secret }: Wanted) {
  const events = event.length === 0 ? undefined : event
  return { ...(url === undefined ? { inbox: true as const } : { url }), events, secret }
}
