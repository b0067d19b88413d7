import { batchEndpoints } from './requirements/batch-endpoints.ts'
import { batches } from './requirements/batches.ts'
import { conventionsAndResources } from './requirements/conventions-and-resources.ts'
import { endpoints } from './requirements/endpoints.ts'
import type { Requirement } from './requirements/requirement.ts'
import { service } from './requirements/service.ts'

export type { Requirement } from './requirements/requirement.ts'

/** Every requirement that the emulator has to meet, R001 to R296 in order; `coverage.ts` lists their tests. */
export const requirements = [
  ...conventionsAndResources,
  ...batches,
  ...endpoints,
  ...batchEndpoints,
  ...service,
] as const satisfies readonly Requirement[]
