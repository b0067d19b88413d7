import { parseDuration } from '../../kernel/duration.ts'
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts'
import { ask } from './control-client.ts'
import type { Invocation } from './invocation.ts'
import { OK, UsageError } from './usage.ts'

type ClientInvocation = Invocation<'url' | 'controlToken' | 'json'>

/** `status`: whether an emulator runs, which, and what its clock says. */
export async function status({ options, terminal }: ClientInvocation): Promise<number> {
  const health = await ask(options, 'GET', '/health')
  const clock = await ask(options, 'GET', '/clock')
  const { now, rate, next = null } = clock
  const facts = { url: options.url, ...health, clock }
  return show({ options, terminal }, facts, [
    `${options.url}: version ${health.version}, contract ${health.contract_version}`,
    `  clock  ${now}, ${passing(rate)}`,
    `  next   ${nextEvent(next)}`,
  ])
}

/** `clock`: the virtual clock. */
export async function clock({ options, terminal }: ClientInvocation): Promise<number> {
  const body = await ask(options, 'GET', '/clock')
  const { now, rate, skip_on_poll, next = null } = body
  const skips = skip_on_poll === true ? ', skips on poll' : ''
  return show({ options, terminal }, body, [`${now}, ${passing(rate)}${skips}`, `next: ${nextEvent(next)}`])
}

/** `clock advance`: moves the virtual clock and lists what happened on the way. */
export async function advance({ args, options, terminal }: ClientInvocation): Promise<number> {
  const [by = ''] = args
  if (parseDuration(by) === undefined) {
    throw new UsageError([
      `clock advance: "${by}" is not a duration. Give one such as 90s, 10m, 24h, 29d or PT24H.`,
    ])
  }
  const receipt = await ask(options, 'POST', '/clock/advance', { by })
  const happened = objectsOf(receipt.events).map(eventLine)
  const parked = objectsOf(receipt.parked).map((event) => `${eventLine(event)}: failed, ${event.error}`)
  return show({ options, terminal }, receipt, [`${receipt.from} to ${receipt.to}`, ...happened, ...parked])
}

/** `reset`: the starting world again. */
export async function reset({ options, terminal }: ClientInvocation): Promise<number> {
  const body = await ask(options, 'POST', '/reset', {})
  return show({ options, terminal }, body, [`The world of ${options.url} starts again.`])
}

function show(
  { options, terminal }: Pick<ClientInvocation, 'options' | 'terminal'>,
  data: JsonObject,
  lines: readonly string[],
): number {
  terminal.out(options.json ? JSON.stringify(data) : lines.join('\n'))
  return OK
}

function passing(rate: Json | undefined): string {
  return rate === 0 ? 'frozen' : `rate ${rate}`
}

function nextEvent(next: Json): string {
  return isObject(next) ? eventLine(next).trim() : 'nothing is due'
}

function eventLine({ at, kind, ref, says, from, to }: JsonObject): string {
  const move = from === undefined ? '' : ` (${from} to ${to})`
  return `  ${at}  ${says ?? `${kind} ${ref}`}${move}`
}

function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
