import { Ledger } from '../kernel/assumptions.ts'
import { kernelAssumptions } from '../kernel/open-items.ts'
import { type Resource, service } from '../kernel/operation.ts'
import { outboxRoom } from '../kernel/outbox/room.ts'
import { agentsRoom } from './agents/index.ts'
import { batchPredictionsRoom } from './batch-predictions/index.ts'
import { connectionsRoom } from './connections.ts'
import { consumptionRoom } from './consumption/index.ts'
import { conversationsRoom } from './conversations.ts'
import { dataViewsRoom } from './data-views.ts'
import { filesRoom } from './files.ts'
import { mcpServersRoom } from './mcp-servers/index.ts'
import { organizationsRoom } from './organizations.ts'
import { pagesRoom } from './pages.ts'
import { skillsRoom } from './skills.ts'
import { teamspacesRoom } from './teamspaces/index.ts'
import { uncontractedRoom } from './uncontracted.ts'

/** The rooms of the Agent Workspace Service, in the order of its parts. Worlds are built in this order, so that a record may refer to earlier ones. */
const rooms: readonly Resource[] = [
  organizationsRoom,
  teamspacesRoom,
  pagesRoom,
  skillsRoom,
  mcpServersRoom,
  connectionsRoom,
  dataViewsRoom,
  consumptionRoom,
  conversationsRoom,
  agentsRoom,
  filesRoom,
  batchPredictionsRoom,
  uncontractedRoom,
]

const outbox = outboxRoom(rooms.flatMap((room) => room.notices ?? []))

/** Everything that the service declares. */
export const workspaceService = service([...rooms, outbox])

/** Every item that the specification leaves open, with its settings. */
export const ledger = new Ledger([
  kernelAssumptions,
  ...[...rooms, outbox].flatMap((room) => room.assumptions ?? []),
])
