import { request } from 'node:http'
import { atLeast, below, type Figure, none, type Proof, type Scale, timing, tried } from '../proof.ts'
import { comesTrue, Stage, within } from '../stage.ts'
import { type Probed, startProbed } from './probe.ts'

interface Plan {
  /** Events of the advance during which other requests are served. */
  readonly events: number
  /** Automations that run each minute while the clock runs at its highest rate. */
  readonly automations: number
}

const PLANS: Readonly<Record<Scale, Plan>> = {
  short: { events: 5_000, automations: 28 },
  long: { events: 100_000, automations: 28 },
}

export const f6: Proof = {
  id: 'F6',
  promise:
    'During an advance or a backlog of any number of events, the emulator handles other requests, signals and disconnects.',
  run: (scale, say) => runClock(PLANS[scale], scale, say),
}

interface Answered {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a proof looks into bodies of every shape.
  readonly body: any
}

/** One request of the control interface that can be aborted before its response. */
function ask({ port }: Probed, method: string, path: string, body?: object) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = text === undefined ? {} : { 'content-type': 'application/json' }
  const client = request({ host: '127.0.0.1', port, method, path: `/__emulator${path}`, headers })
  const response = new Promise<Answered>((resolve, reject) => {
    client.on('error', reject)
    client.on('response', (res) => {
      let received = ''
      res.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk
      })
      res.on('error', reject)
      res.on('end', () => resolve({ status: res.statusCode ?? 0, body: JSON.parse(received || 'null') }))
    })
  })
  client.end(text)
  return { response, leave: () => client.destroy() }
}

async function runClock(plan: Plan, scale: Scale, say: (line: string) => void): Promise<readonly Figure[]> {
  await using stage = new Stage()
  const probed = await startProbed(stage)
  const control = (method: string, path: string, body?: object) => ask(probed, method, path, body).response
  const agents = [{ id: 'f6-agent', _emulator: { teamspace_id: 'ts-a' } }]
  await control('POST', '/fixtures', { collections: { agents, automations: automations(1) } })
  const figures = [...(await during(probed, plan)), ...(await abandoned(probed))]
  say('advances are over')
  await control('POST', '/fixtures', { collections: { automations: automations(plan.automations) } })
  figures.push(...(await running(probed)), ...(await stopped(probed, scale)))
  const { defects } = probed.started
  return [...figures, none(`defects logged${defects[0] ? `: ${defects[0].message}` : ''}`, defects.length)]
}

function automations(count: number) {
  return Array.from({ length: count }, (_, n) => ({
    id: `f6-automation-${n}`,
    _emulator: { agent_id: 'f6-agent', schedule: '* * * * *' },
  }))
}

// Other requests are served during the advance, at increasing instants; a second advance starts where the first one ended.
async function during(probed: Probed, { events }: Plan): Promise<Figure[]> {
  const passage = ask(probed, 'POST', '/clock/advance', { by: '3650d', max_events: events })
  const second = ask(probed, 'POST', '/clock/advance', { steps: 1 })
  const seen = { health: 0, instants: new Set<string>(), slowest: 0 }
  const isOver = passage.response.then(() => true)
  while (!(await Promise.race([isOver, Promise.resolve(false)]))) {
    const asked = performance.now()
    const { status } = await ask(probed, 'GET', '/health').response
    seen.slowest = Math.max(seen.slowest, performance.now() - asked)
    if (status === 200) seen.health += 1
    const clock = await ask(probed, 'GET', '/clock').response
    seen.instants.add(clock.body.now)
  }
  const { status, body } = await passage.response
  const after = await second.response
  const listed = body.events.length + body.failed.length
  const omitted = Object.values<number>(body.omitted ?? {}).reduce((sum, count) => sum + count, 0)
  return [
    tried('events of an advance', listed + omitted),
    none('status of the advance other than 200', status === 200 ? 0 : status),
    none('advances that did not stop at their limit', body.stopped === 'limit' ? 0 : 1),
    none('events that are neither listed nor counted', Math.max(0, events - listed - omitted)),
    below('bytes of the response', JSON.stringify(body).length, 500_000),
    atLeast('instants at which other requests were served during the advance', seen.instants.size, 2),
    none('second advances that did not wait for the first', after.body.from === body.to ? 0 : 1),
    tried('responses of /health during the advance', seen.health),
    tried('slowest of them', `${Math.round(seen.slowest)} ms`),
  ]
}

// If its client disconnects, an advance of ten years ends, and the clock stays at the instant that it has reached.
async function abandoned(probed: Probed): Promise<Figure[]> {
  const passage = ask(probed, 'POST', '/clock/advance', { by: '3650d', max_events: 1_000_000 })
  passage.response.catch(() => {})
  const now = async (): Promise<string> => (await ask(probed, 'GET', '/clock').response).body.now
  const isUnderWay = async () => {
    const before = await now()
    return (await now()) !== before
  }
  await comesTrue(isUnderWay)
  passage.leave()
  const ended = await comesTrue(async () => !(await isUnderWay()))
  const [first, later] = [
    await ask(probed, 'GET', '/clock').response,
    await ask(probed, 'GET', '/clock').response,
  ]
  return [
    none('advances that continue without their client', ended ? 0 : 1),
    none('clocks that move on without an advance', first.body.now === later.body.now ? 0 : 1),
  ]
}

// At the highest rate, many more events are due than can run.
async function running(probed: Probed): Promise<Figure[]> {
  const clock = () => ask(probed, 'GET', '/clock').response
  await ask(probed, 'PATCH', '/clock', { rate: 100_000 }).response
  const isSaid = () => probed.started.log.some(({ message }) => message.includes('cannot keep up'))
  const said = await comesTrue(async () => (await clock()).body.lag_ms > 0 && isSaid(), 60_000)
  let served = 0
  const instants = new Set<string>()
  while (served < 500) {
    const { status, body } = await clock()
    if (status === 200) served += 1
    instants.add(body.now)
  }
  const frozen = await ask(probed, 'PATCH', '/clock', { rate: 0 }).response
  const [one, other] = [await clock(), await clock()]
  return [
    none('clocks that cannot keep up and do not report it', said ? 0 : 1),
    tried('instants at which 500 requests were served while the clock lagged', instants.size),
    none('lag of a clock that was stopped', frozen.body.lag_ms),
    none('stopped clocks that still run', one.body.now === other.body.now ? 0 : 1),
    none(
      'further reports of the same lag',
      probed.started.log.filter(({ message }) => message.includes('cannot keep up')).length - 1,
    ),
  ]
}

async function stopped(probed: Probed, scale: Scale): Promise<Figure[]> {
  const passage = ask(probed, 'POST', '/clock/advance', { by: '3650d', max_events: 1_000_000 })
  const answered = passage.response.then(
    ({ status }) => status,
    () => 0,
  )
  await comesTrue(async () => (await ask(probed, 'POST', '/reset', {}).response).status === 409)
  const signalled = performance.now()
  const { code, at } = await probed.started.stop()
  return [
    none('exit code after SIGTERM during an advance', code ?? -1),
    none(
      'such advances with another status than 409',
      (await within('the response of the advance', answered)) === 409 ? 0 : 1,
    ),
    timing(scale, below('from SIGTERM to the end', Math.round(at - signalled), 2_000, 'ms')),
  ]
}
