import { useState } from 'preact/hooks'
import { ask } from './api.ts'
import { act } from './live.ts'
import { Switch } from './ui.tsx'

/** The id of the rule that the slider changes. */
const LATENCY = 'latency'

/** A slider for a delay of every response before its head is sent, with a separate rule. */
export function LatencyCard({ rules }: { rules: readonly { readonly id: string; readonly do: unknown }[] }) {
  const rule = rules.find(({ id }) => id === LATENCY)
  const [ms, setMs] = useState(() => delayOf(rule?.do) ?? 300)
  const arm = (delay: number) =>
    act(async () => {
      if (rule !== undefined) await ask('DELETE /faults/{id}', { params: { id: LATENCY } })
      const body = {
        id: LATENCY,
        match: 'everything',
        do: [{ pace: { before_head_ms: delay } }],
        then: 'continue',
      } as const
      await ask('POST /faults', { body })
    })
  return (
    <section class="card latency row" aria-label="Latency">
      <label for="latency">Latency</label>
      <input
        id="latency"
        type="range"
        min={0}
        max={5_000}
        step={50}
        value={ms}
        onInput={(event) => setMs(Number(event.currentTarget.value))}
        onChange={(event) => rule !== undefined && void arm(Number(event.currentTarget.value))}
      />
      <code>{ms} ms</code>
      <Switch
        on={rule !== undefined}
        label="Delay every response"
        hideLabel
        onToggle={() =>
          void (rule === undefined
            ? arm(ms)
            : act(() => ask('DELETE /faults/{id}', { params: { id: LATENCY } })))
        }
      />
    </section>
  )
}

function delayOf(actions: unknown): number | undefined {
  const [first] = Array.isArray(actions) ? actions : []
  const delay: unknown = first?.pace?.before_head_ms
  return typeof delay === 'number' ? delay : undefined
}
