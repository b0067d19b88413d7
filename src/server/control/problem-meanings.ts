import type { ErrorCode } from '../../core/errors.ts'

/** The meaning of each error code in one sentence, shown at the URL in the `type` of a problem. */
export const meanings: Readonly<Partial<Record<ErrorCode, string>>> = {
  validation_failed:
    'A field of the body or the query breaks a rule; the list of errors has a pointer to each such field.',
  malformed_json: 'The body is not JSON text; the message names the line and column.',
  bad_request: 'The request is not valid HTTP, so no operation has received it.',
  malformed_message_id: 'The message id is neither a UUID nor a UUID with the suffix -user or -agent.',
  not_an_agent_message: 'Feedback is only accepted for messages of an agent or a voice call.',
  root_conversation:
    'The root conversation of a channel cannot be deleted, only the conversations inside it.',
  unauthorized: 'The request has no key, or a key that this sandbox does not have.',
  forbidden: 'The key is valid, but its owner may not do this.',
  mcp_oauth_requires_user_principal: 'A service key called an operation that needs a person.',
  not_found: 'The object does not exist, or not for this caller.',
  route_not_found: 'No operation has this path.',
  method_not_allowed:
    'The path does not accept this method; the Allow header lists the methods that it accepts.',
  request_timeout: 'The request did not arrive completely within the time limit.',
  conflict: 'The state of the object does not allow this.',
  results_not_ready: 'The results of a batch exist once it is completed, failed, expired or cancelled.',
  idempotency_key_reused: 'The Idempotency-Key belongs to an earlier request with another body.',
  idempotency_key_in_use: 'The first request with this Idempotency-Key is still in progress.',
  results_gone: 'The result lines have been cleaned up, 29 days after the batch was created.',
  precondition_failed:
    'The record no longer has the ETag that If-Match names. Only the control interface has conditional requests.',
  payload_too_large: 'The body has more bytes than the operation accepts.',
  unsupported_media_type: 'The Content-Type of the body is not JSON, or its encoding is not supported.',
  expectation_failed: 'The Expect header has a value other than 100-continue.',
  rate_limit_exceeded:
    'The limit of requests in this window is reached; Retry-After contains the seconds to wait.',
  header_fields_too_large: 'The request line and the headers are longer than the server accepts.',
  internal_error: 'A defect of the emulator, or the effect of a fault rule. A defect changes no data.',
  emulator_contract_unspecified:
    'The specification names this operation, but does not describe its request and response.',
  bad_gateway:
    'A gateway in front of the service got no usable response from it; only a fault sends this response.',
  service_unavailable: 'The service does not accept requests for a while; only a fault sends this response.',
  gateway_timeout:
    'A gateway in front of the service got no response in time; only a fault sends this response.',
  storage_unavailable: 'The change could not be written to disk, so it was not made.',
}
