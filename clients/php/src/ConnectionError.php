<?php

declare(strict_types=1);

namespace Carteira;

/** The installation did not answer. Whether the call was carried out is not known. */
final class ConnectionError extends \RuntimeException
{
}
