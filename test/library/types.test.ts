import { expectTypeOf, test } from 'vitest'
import type { OwnCalls } from '../../src/control-client/ask.ts'
import type {
  ClockTarget,
  EmulatorClient,
  FaultDraft,
  RequestSearch,
  SandboxClient,
  StubDraft,
} from '../../src/index.ts'

// The compiler checks these (`npm run types` includes this folder). At run time the tests only define functions.

declare const sandbox: SandboxClient
declare const client: EmulatorClient

type Same<A, B> = [A, B] extends [B, A] ? true : false

type Body<K extends keyof OwnCalls> = OwnCalls[K]['body']

test('hand-written types are the same as those of the routes', () => {
  expectTypeOf<Same<FaultDraft | readonly FaultDraft[], Body<'POST /faults'>>>().toEqualTypeOf<true>()
  expectTypeOf<Same<StubDraft | readonly StubDraft[], Body<'POST /stubs'>>>().toEqualTypeOf<true>()
  expectTypeOf<Same<RequestSearch, Body<'POST /requests/verify'>['match']>>().toEqualTypeOf<true>()
  expectTypeOf<Same<RequestSearch, Body<'POST /requests/wait'>['match']>>().toEqualTypeOf<true>()
  expectTypeOf<ClockTarget>().toExtend<Body<'POST /clock/advance'>>()
})

test('wrong calls do not compile', () => {
  const never = (): unknown => [
    // @ts-expect-error two targets at once
    sandbox.clock.advance({ by: '1h', too: '2026-01-01T00:00:00Z' }),
    // @ts-expect-error a number of what?
    sandbox.clock.advance(5),
    // @ts-expect-error a status that batches do not have
    sandbox.clock.advance({ until: { batch: 'b', status: 'done' } }),
    // @ts-expect-error no such action
    sandbox.faults.arm({ match: 'everything', do: [{ explode: {} }] }),
    // @ts-expect-error an action has parameters of its own
    sandbox.faults.arm({ match: 'everything', do: [{ respond: { code: 503 } }] }),
    // @ts-expect-error a preset is named once
    sandbox.faults.preset('rate-limited', { preset: 'another' }),
    // @ts-expect-error the id of a rule cannot be changed
    sandbox.faults.get('f').then((fault) => fault.change({ id: 'g' })),
    // @ts-expect-error no such criterion
    sandbox.requests.verify({ operatoin: 'pages.create' }),
    // @ts-expect-error how many is an object
    sandbox.requests.verify({ operation: 'pages.create' }, 1),
    // @ts-expect-error options are in camelCase
    sandbox.requests.wait({ operation: 'pages.create' }, { timeout_ms: 1 }),
    // @ts-expect-error a record has an id
    sandbox.state.put('pages', { name: 'x' }),
    // @ts-expect-error a stub has a path
    sandbox.stubs.create({ method: 'GET' }),
    // @ts-expect-error a receiver has a URL
    sandbox.webhooks.create({}),
    // @ts-expect-error no such shipped data
    sandbox.reset({ fixtures: 'demos' }),
    // @ts-expect-error no such type
    sandbox.events({ types: ['requests'] }),
    // @ts-expect-error options of a sandbox are in camelCase
    client.sandbox('w', { from_snapshot: 's' }),
    // @ts-expect-error no such document
    client.openapi('both'),
  ]
  expectTypeOf(never).returns.toBeUnknown()
})

test('the type of an event determines its data', () => {
  const look = async () => {
    for await (const event of sandbox.events()) {
      if (event.type === 'request') expectTypeOf(event.data.status).toBeNumber()
      if (event.type === 'hello') expectTypeOf(event.data.version).toBeString()
      // @ts-expect-error a request has no reason
      if (event.type === 'request') event.data.reason
    }
  }
  expectTypeOf(look).returns.resolves.toBeVoid()
})
