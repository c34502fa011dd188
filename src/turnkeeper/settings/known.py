"""Providers that most people know, by the variable in which their key is usually found."""

KEY_VARIABLES = {
    "aihubmix": "AIHUBMIX_API_KEY",
    "alibaba-singapore": "ALIBABA_SINGAPORE_API_KEY",
    "alibaba-us": "ALIBABA_US_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "avian": "AVIAN_API_KEY",
    "azure": "AZURE_OPENAI_API_KEY",
    "bedrock": "AWS_BEARER_TOKEN_BEDROCK",
    "cerebras": "CEREBRAS_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "groq": "GROQ_API_KEY",
    "huggingface": "HF_TOKEN",
    "hyper": "HYPER_API_KEY",
    "ionet": "IONET_API_KEY",
    "minimax": "MINIMAX_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "moonshot": "MOONSHOT_API_KEY",
    "openai": "OPENAI_API_KEY",
    "opencode-go": "OPENCODE_API_KEY",
    "opencode-zen": "OPENCODE_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "synthetic": "SYNTHETIC_API_KEY",
    "venice": "VENICE_API_KEY",
    "vercel": "VERCEL_API_KEY",
    "vertexai": "VERTEXAI_PROJECT",
    "xai": "XAI_API_KEY",
    "zai": "ZAI_API_KEY",
}
AWS_HINTS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_ROLE_ARN",
)
PROVIDER_TYPES = (
    *("openai", "openai-compat", "openrouter", "vercel", "anthropic", "google", "azure", "bedrock", "google-vertex"),
    *("hyper", "litellm", "llamacpp", "lmstudio", "ollama", "omlx", "offline", "scripted"),
)
OWN_TYPES = ("offline", "scripted")
"""Voices of our own, which are nowhere to be reached: each has one model, named like its type."""
LOCAL_TYPES = ("litellm", "llamacpp", "lmstudio", "ollama", "omlx")
"""Servers on one's own machine, which say themselves what models they have."""
