import { didYouMean } from '../../kernel/assumptions.ts'
import { refuseInvalid } from '../../kernel/errors.ts'
import type { Request } from '../../kernel/operation.ts'
import { type Cloud, teamspaces } from '../teamspaces/schema.ts'
import { type Model, modelEcho, models } from './settings.ts'

/** The model that a batch shows and the one that runs. */
export interface ChosenModel {
  readonly shown: string
  readonly effective: string
}

/** What is wrong with a model id that no cloud has; undefined for a listed one, and for any while no list is given (U036). */
export function unknownModel(id: string, list: readonly Model[]): string | undefined {
  if (list.length === 0 || list.some((model) => model.id === id)) return undefined
  return `there is no model with the id "${id}"${didYouMean(
    id,
    list.map((model) => model.id),
  )}`
}

/**
 * The model for a batch of the caller's teamspace, or a refusal where the cloud of the teamspace does not have it. A
 * deprecated id is accepted and runs as another. Specification: Endpoints / Create batch prediction.
 */
export function chooseModel(
  id: string,
  { tx, caller, assume }: Pick<Request<object, unknown>, 'tx' | 'caller' | 'assume'>,
): ChosenModel {
  const listed = assume(models).find((model) => model.id === id)
  if (listed === undefined) return { shown: id, effective: id }
  const cloud = tx.in(teamspaces).get(caller.teamspace_id)?.cloud_provider
  if (cloud !== undefined && !listed.clouds.includes(cloud)) {
    refuseInvalid([{ pointer: '/model', detail: foreignModel(listed, cloud) }])
  }
  if (listed.runs_as === undefined) return { shown: id, effective: id }
  return { shown: assume(modelEcho) === 'effective' ? listed.runs_as : id, effective: listed.runs_as }
}

function foreignModel({ id }: Model, cloud: Cloud): string {
  return cloud === 'cloud_a'
    ? `the model "${id}" is not served natively by the cloud of this teamspace`
    : `the model "${id}" is exclusive to another cloud than that of this teamspace`
}
