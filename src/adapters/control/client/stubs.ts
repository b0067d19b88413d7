import type { Stub, StubDraft } from '../../../core/scenarios/stub.ts'
import type { Ask } from './ask.ts'
import type { List, Removed } from './views/list.ts'

/** The stubs of a sandbox. */
export interface StubList extends List<Stub> {
  /** False under `--strict`, where no stub answers. */
  readonly answers: boolean
}

/** Answers of endpoints that the specification shows no contract for. */
export interface SandboxStubs {
  /** Answers an endpoint from now on; of two stubs that fit equally well the later one does. */
  create(draft: StubDraft): Promise<Stub>
  /** Writes several stubs, all of them or none. */
  createAll(drafts: readonly StubDraft[]): Promise<readonly Stub[]>
  list(): Promise<StubList>
  show(id: string): Promise<Stub>
  /** @returns the stub as it stood */
  remove(id: string): Promise<Stub>
  /** Removes every stub, those of the fixtures and of the active scenario too. */
  clear(): Promise<Removed>
}

export function stubsOver(ask: Ask): SandboxStubs {
  const createAll = async (body: StubDraft | readonly StubDraft[]): Promise<readonly Stub[]> => {
    const made = await ask('POST /stubs', { body })
    return 'data' in made ? made.data : [made]
  }
  return {
    create: async (draft) => (await createAll(draft))[0] as Stub, // one draft, one stub
    createAll,
    list: () => ask('GET /stubs'),
    show: (id) => ask('GET /stubs/{id}', { params: { id } }),
    remove: (id) => ask('DELETE /stubs/{id}', { params: { id } }),
    clear: () => ask('DELETE /stubs'),
  }
}
