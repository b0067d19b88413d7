import { Ledger } from '../kernel/assumptions.ts'
import { kernelAssumptions } from '../kernel/open-items.ts'
import { type Resource, service } from '../kernel/operation.ts'
import { pagesRoom } from './pages.ts'

/** The rooms of the Agent Workspace Service, in the order of its specification. */
const rooms: readonly Resource[] = [pagesRoom]

/** Everything that the service declares. */
export const workspaceService = service(rooms)

/** Every item that the specification leaves open, with its settings. */
export const ledger = new Ledger([kernelAssumptions, ...rooms.flatMap((room) => room.assumptions ?? [])])
