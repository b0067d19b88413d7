import { wirePrimitives } from './adapters/http/faults/primitives.ts'
import { statePrimitives } from './core/faults/primitives.ts'
import { service } from './core/operation.ts'
import { resources } from './resources/index.ts'

/** What fault rules can do. */
export const faultPrimitives = [...wirePrimitives, ...statePrimitives]

/** The emulated service: its resources, and what fault rules can do to it. */
export const workspaceService = service(resources, faultPrimitives)
