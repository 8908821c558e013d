//! One whole answer for each protocol, with a thought, a text, a call and tokens.

/// A provider and an answer in its protocol.
pub(crate) struct Fixture {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) key_variable: &'static str,
    /// Where it is asked.
    pub(crate) path: &'static str,
    /// How the key goes along.
    pub(crate) auth: &'static str,
    /// The answer.
    pub(crate) stream: &'static str,
    /// Without what begins here the answer is not whole.
    pub(crate) terminal: &'static str,
    /// A beginning of the answer that says something.
    pub(crate) content: &'static str,
    /// What its error object looks like.
    pub(crate) error: &'static str,
}

pub(crate) const RESPONSES: Fixture = Fixture {
    id: "openai",
    name: "OpenAI",
    key_variable: "OPENAI_API_KEY",
    path: "/base/responses",
    auth: "authorization: bearer sk-very-secret",
    stream: concat!(
        "event: response.created\r\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\r\n\r\n",
        "data: {\"type\":\"response.reasoning_text.delta\",\"output_index\":0,\"item_id\":\"t\",\"delta\":\"hm\"}\n\n",
        "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"t\"}}\n\n",
        "data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"delta\":\"grüß \"}\n\n",
        ": keep-alive\n\n",
        "data: {\"type\":\"response.output_text.delta\",\n",
        "data:  \"output_index\":1,\"delta\":\"dich 🪺\"}\n\n",
        "data: {\"type\":\"response.output_item.done\",\"output_index\":2,\"item\":{\"type\":\"function_call\",",
        "\"id\":\"f\",\"call_id\":\"c\",\"name\":\"files_read\",\"arguments\":\"{}\"}}\n\n",
        "data: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":4}}}\n\n",
    ),
    terminal: "data: {\"type\":\"response.completed\"",
    content: "data: {\"type\":\"response.output_text.delta\",\"delta\":\"begun\"}\n\n",
    error: "data: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"sorry\"}\n\n",
};

pub(crate) const CHAT: Fixture = Fixture {
    id: "openrouter",
    name: "OpenRouter",
    key_variable: "OPENROUTER_API_KEY",
    path: "/base/chat/completions",
    auth: "authorization: bearer sk-very-secret",
    stream: concat!(
        ": OPENROUTER PROCESSING\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"reasoning\":\"hm\"}}]}\r\n\r\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"grüß \"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"dich 🪺\"}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",",
        "\"function\":{\"name\":\"files_read\",\"arguments\":\"{}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n",
        "data: [DONE]\n\n",
    ),
    terminal: "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\"",
    content: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"begun\"}}]}\n\n",
    error: "data: {\"error\":{\"message\":\"sorry\"}}\n\n",
};

pub(crate) const ANTHROPIC: Fixture = Fixture {
    id: "anthropic",
    name: "Anthropic",
    key_variable: "ANTHROPIC_API_KEY",
    path: "/base/v1/messages",
    auth: "x-api-key: sk-very-secret",
    stream: concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\n\n",
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,",
        "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"}}\n\n",
        "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\r\n\r\n",
        "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"grüß \"}}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"dich 🪺\"}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
        "data: {\"type\":\"content_block_start\",\"index\":2,",
        "\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"files__read\",\"input\":{}}}\n\n",
        "data: {\"type\":\"content_block_stop\",\"index\":2}\n\n",
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":4}}\n\n",
        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
    ),
    terminal: "event: message_stop",
    content: "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"begun\"}}\n\n",
    error: "data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"sorry\"}}\n\n",
};

/// All three.
pub(crate) const ALL: [Fixture; 3] = [RESPONSES, CHAT, ANTHROPIC];
