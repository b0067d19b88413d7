import { batchEndpoints } from './requirements/batch-endpoints.ts'
import { batches } from './requirements/batches.ts'
import { conventionsAndResources } from './requirements/conventions-and-resources.ts'
import { endpoints } from './requirements/endpoints.ts'
import type { Requirement } from './requirements/requirement.ts'
import { service } from './requirements/service.ts'

export type { Requirement } from './requirements/requirement.ts'

/** Every requirement that the emulator answers for, R001 to R296 in order; see `coverage.ts` for who shows them. */
export const requirements = [
  ...conventionsAndResources,
  ...batches,
  ...endpoints,
  ...batchEndpoints,
  ...service,
] as const satisfies readonly Requirement[]
