import type { Json } from '../../kernel/json.ts'
import { ask } from './control-client.ts'
import type { SandboxInvocation } from './invocation.ts'
import { show } from './print.ts'
import { nextEvent } from './receipt-lines.ts'

/** `status`: whether an emulator runs, which, and what its clock says. */
export async function status({ options, terminal }: SandboxInvocation): Promise<number> {
  const health = await ask(options, 'GET', '/health')
  const clock = await ask(options, 'GET', '/clock')
  const { now, rate, next = null } = clock
  const facts = { url: options.url, sandbox: options.sandbox ?? null, ...health, clock }
  return show({ options, terminal }, facts, [
    `${placeOf(options)}: version ${health.version}, contract ${health.contract_version}`,
    `  clock  ${now}, ${passing(rate)}`,
    `  next   ${nextEvent(next)}`,
  ])
}

/** `clock`: the virtual clock. */
export async function clock({ options, terminal }: SandboxInvocation): Promise<number> {
  const body = await ask(options, 'GET', '/clock')
  const { now, rate, skip_on_poll, next = null } = body
  const skips = skip_on_poll === true ? ', skips on poll' : ''
  return show({ options, terminal }, body, [`${now}, ${passing(rate)}${skips}`, `next: ${nextEvent(next)}`])
}

/** `reset`: the starting world again. */
export async function reset({ options, terminal }: SandboxInvocation): Promise<number> {
  const body = await ask(options, 'POST', '/reset', {})
  return show({ options, terminal }, body, [`The world of ${placeOf(options)} starts again.`])
}

function placeOf({ url, sandbox }: SandboxInvocation['options']): string {
  return sandbox === undefined ? url : `${url}, sandbox ${sandbox}`
}

function passing(rate: Json | undefined): string {
  return rate === 0 ? 'frozen' : `rate ${rate}`
}
