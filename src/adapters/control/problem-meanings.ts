import type { ErrorCode } from '../../core/errors.ts'

/** What each error code says about the request, in one sentence for anyone who followed the type of a problem. */
export const meanings: Readonly<Partial<Record<ErrorCode, string>>> = {
  validation_failed:
    'A member of the body or the query breaks a rule; the list of errors points at each of them.',
  malformed_json: 'The body is not JSON text; the message names the line and column.',
  bad_request: 'The request is not understood as HTTP, before any operation looks at it.',
  malformed_message_id: 'The message id is neither a UUID nor a UUID with the suffix -user or -agent.',
  not_an_agent_message: 'Feedback is only taken about messages that an agent or a voice wrote.',
  root_conversation:
    'The root conversation of a channel cannot be deleted, only the conversations inside it.',
  unauthorized: 'The request carries no key, or one that this sandbox does not know.',
  forbidden: 'The key is known, but its holder may not do this.',
  mcp_oauth_requires_user_principal: 'A service key called an operation that needs a person.',
  not_found: 'The object does not exist, or not for this caller.',
  route_not_found: 'No operation has this path.',
  method_not_allowed: 'The path exists, but not with this method; the Allow header lists those that do.',
  request_timeout: 'The request did not arrive completely in the time that is granted.',
  conflict: 'The object is in a state in which this cannot be done.',
  results_not_ready: 'The results of a batch exist once it is completed, failed, expired or cancelled.',
  idempotency_key_reused: 'The Idempotency-Key belongs to an earlier request with another body.',
  idempotency_key_in_use: 'The first request with this Idempotency-Key has not been answered yet.',
  results_gone: 'The result lines have been cleaned up, 29 days after the batch was created.',
  precondition_failed:
    'The record no longer has the ETag that If-Match names. Only the control interface has conditional requests.',
  payload_too_large: 'The body has more bytes than the operation accepts.',
  unsupported_media_type: 'The body is not declared as JSON, or is coded in a way that is not understood.',
  expectation_failed: 'The Expect header asks for something other than 100-continue.',
  rate_limit_exceeded:
    'As many requests as the window admits have been made; Retry-After says how long to wait.',
  header_fields_too_large: 'The request line and the headers are longer than the server reads.',
  internal_error: 'A defect of the emulator, or a fault that was asked for. Nothing was changed by a defect.',
  emulator_contract_unspecified:
    'The specification names this operation without saying what it takes or answers.',
  bad_gateway: 'A gateway in front of the service got no usable response from it; only a fault answers so.',
  service_unavailable: 'The service takes no requests for a while; only a fault answers so.',
  gateway_timeout:
    'A gateway in front of the service waited in vain for its response; only a fault answers so.',
  storage_unavailable: 'The change could not be written to disk, so it was not made.',
}
