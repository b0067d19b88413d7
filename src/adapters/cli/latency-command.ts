import { LATENCY, type Latency, latencyOf, latencyRule } from '../latency.ts'
import { command, SANDBOX_OPTIONS } from './command.ts'
import { controlOf } from './control-client.ts'
import { UsageError } from './options.ts'
import { show } from './print.ts'

export const latencyCommands = [
  command({
    name: 'latency',
    description: 'Show the delay of every response, change it, or end it with off',
    args: [{ name: '[delay]', description: 'such as 300ms, 300-800ms or 2s, at most 60s; or off' }],
    options: SANDBOX_OPTIONS,
    run: async (invocation) => {
      const ask = controlOf(invocation.options)
      const [text] = invocation.args
      const wanted = text === undefined || text === 'off' ? undefined : given(text)
      const { data } = await ask('GET /faults')
      const present = data.find(({ id }) => id === LATENCY)
      if (text === undefined)
        return show(invocation, { latency: delayOf(present) }, [sentence(delayOf(present))])
      if (present !== undefined) await ask('DELETE /faults/{id}', { params: { id: LATENCY } })
      if (wanted !== undefined) await ask('POST /faults', { body: latencyRule(wanted) })
      const now = wanted ?? null
      return show(invocation, { latency: now }, [sentence(now)])
    },
  }),
]

function given(text: string): Latency {
  const latency = latencyOf(text)
  if (latency !== undefined) return latency
  throw new UsageError([
    `"${text}" is not a latency. Give one such as 300ms, 300-800ms or 2s, at most 60s, or off.`,
  ])
}

interface Delaying {
  readonly do?: readonly object[]
}

function delayOf(rule: Delaying | undefined): Latency | null {
  const [action = {}] = rule?.do ?? []
  const { pace: { before_head_ms: from = 0, jitter_ms: more = 0 } = {} } = action as {
    readonly pace?: { readonly before_head_ms?: number; readonly jitter_ms?: number }
  }
  return rule === undefined ? null : [from, from + more]
}

function sentence(latency: Latency | null): string {
  if (latency === null) return 'Responses are not delayed.'
  const [from, to] = latency
  return `Every response is delayed by ${from === to ? '' : `${from} to `}${to} ms.`
}
