import type { Resource } from '../core/service.ts'
import { webhooksResource } from '../core/webhooks/resource.ts'
import { agentsResource } from './agents/index.ts'
import { batchPredictionsResource } from './batch-predictions/index.ts'
import { connectionsResource } from './connections.ts'
import { consumptionResource } from './consumption/index.ts'
import { conversationsResource } from './conversations.ts'
import { dataViewsResource } from './data-views.ts'
import { filesResource } from './files.ts'
import { mcpServersResource } from './mcp-servers/index.ts'
import { organizationsResource } from './organizations.ts'
import { pagesResource } from './pages.ts'
import { skillsResource } from './skills.ts'
import { teamspacesResource } from './teamspaces/index.ts'
import { uncontractedResource } from './uncontracted.ts'

/** The resources of the Agent Workspace Service. Sandboxes are built in this order: a record can refer to earlier ones. */
const ownResources: readonly Resource[] = [
  organizationsResource,
  teamspacesResource,
  pagesResource,
  skillsResource,
  mcpServersResource,
  connectionsResource,
  dataViewsResource,
  consumptionResource,
  conversationsResource,
  agentsResource,
  filesResource,
  batchPredictionsResource,
  uncontractedResource,
]

/** All resources, with the subscriptions to their webhooks. */
export const resources: readonly Resource[] = [
  ...ownResources,
  webhooksResource(ownResources.flatMap((resource) => resource.webhookTypes ?? [])),
]
