import { z } from 'zod'
import { list, listOf } from '../../../core/fields.ts'
import { refuseUnknown } from '../../../core/refuse-unknown.ts'
import { change } from '../../../core/sandboxes/change.ts'
import type { Sandbox } from '../../../core/sandboxes/sandbox.ts'
import {
  MAX_STUBS,
  putStub,
  type Stub,
  type StubDraft,
  stub,
  stubDraft,
  stubs,
} from '../../../core/scenarios/stub.ts'
import type { Service } from '../../../core/service.ts'
import { either, form } from '../../../core/strict-input.ts'
import { removedIds, route } from '../route.ts'

/** The stubs of a sandbox. */
const stubList = () =>
  listOf(stub()).extend({
    /** False with `--strict`, which turns stubs off. */
    answers: z.boolean(),
  })

/** Stubs: responses of endpoints without a contract in the specification. */
export const stubRoutes = (service: Service) =>
  [
    route('GET /stubs', {
      name: 'stubs.list',
      summary: 'List the stubs of the fixtures, of the active scenario and of this interface',
      returns: 'Every stub; answers is false with --strict, which turns stubs off.',
      output: stubList,
      handle: ({ sandbox }) => ({
        body: { ...list(stubsOf(sandbox)), answers: !sandbox.options.strict },
      }),
    }),
    route('POST /stubs', {
      name: 'stubs.create',
      summary:
        'Create a stub for an endpoint without a contract, or a list of stubs, all or none; of two stubs that match equally well the later one responds',
      returns: 'The stub, or a list of them.',
      success: [201],
      input: () => {
        const draft = stubDraft(service)
        const body = either<StubDraft | readonly StubDraft[]>(
          'must be a stub or a list of stubs',
          form.object(draft),
          form.list(z.array(draft).min(1).max(MAX_STUBS)),
        )
        return { body }
      },
      output: () => z.union([stub(), listOf(stub())]),
      handle: ({ sandbox, body }) => {
        const { result } = change(sandbox, ({ tx }) =>
          [body].flat().map((draft) => putStub(tx, draft, 'control')),
        )
        const [only] = result
        return {
          status: 201,
          body: Array.isArray(body) ? list(result) : (only as Stub),
        } // one draft, one stub
      },
    }),
    route('DELETE /stubs', {
      name: 'stubs.clear',
      summary: 'Remove every stub',
      returns: 'The ids of the removed stubs.',
      output: removedIds,
      handle: ({ sandbox }) => {
        const removed = stubsOf(sandbox).map(({ id }) => id)
        change(sandbox, ({ tx }) => {
          for (const id of removed) tx.in(stubs).delete(id)
        })
        return { body: { removed } }
      },
    }),
    route('GET /stubs/{id}', {
      name: 'stubs.show',
      summary: 'Show one stub',
      returns: 'The stub.',
      output: stub,
      handle: ({ sandbox, params }) => ({ body: stubNamed(sandbox, params.id) }),
    }),
    route('DELETE /stubs/{id}', {
      name: 'stubs.remove',
      summary: 'Remove one stub',
      returns: 'The removed stub.',
      output: stub,
      handle: ({ sandbox, params }) => {
        const removed = stubNamed(sandbox, params.id)
        change(sandbox, ({ tx }) => tx.in(stubs).delete(removed.id))
        return { body: removed }
      },
    }),
  ] as const

function stubsOf({ store }: Sandbox): Stub[] {
  return [...(store.rows(stubs.name).values() as Iterable<Stub>)]
}

function stubNamed(sandbox: Sandbox, id: string): Stub {
  const all = stubsOf(sandbox)
  const ids = all.map((stub) => stub.id)
  const found = all.find((stub) => stub.id === id)
  return found ?? refuseUnknown('stub', id, ids, '"workspace-emulator call GET /stubs" lists them.')
}
