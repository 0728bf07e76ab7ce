export {
  type Era,
  MODERN_META,
  MODERN_REVISION,
  MODERN_RPC,
  namedRevision,
  type RequestEnvelope,
  readEnvelope,
  withEnvelope,
  withoutEnvelope,
} from './envelope.js'
export {
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderMark,
  type HeaderMarks,
  headerMarks,
  mirroredName,
  parameterHeaders,
  standardHeaders,
  valueAt,
} from './headers.js'
export {
  INPUT_METHODS,
  type InputRequest,
  type InputRequired,
  readInputRequired,
  withInputResponses,
} from './input-required.js'
