// What models of point clouds take from pointnet2_ops: sampling and grouping of points. Python text. Which points are sampled, and
// which lie near others, custom operators decide; the rest is torch's.

const POINTNET2_UTILS = `def _custom(name, fake):
    return torch.library.custom_op("pointnet2_ops::" + name, fake)


_furthest = _custom("furthest_point_sampling", lambda xyz, npoint: xyz.new_empty(
    xyz.shape[0], npoint, dtype=torch.int32))
_near = _custom("ball_query", lambda new_xyz, xyz, radius, nsample: xyz.new_empty(
    xyz.shape[0], new_xyz.shape[1], nsample, dtype=torch.int32))


def furthest_point_sample(xyz, npoint):
    return _furthest(xyz, npoint)


def ball_query(radius, nsample, xyz, new_xyz):
    return _near(new_xyz, xyz, radius, nsample)


def gather_operation(features, idx):
    return features.gather(2, idx.long()[:, None].expand(-1, features.shape[1], -1))


def grouping_operation(features, idx):
    flat = gather_operation(features, idx.flatten(1))
    return flat.reshape(features.shape[0], features.shape[1], idx.shape[1], idx.shape[2])


def three_nn(unknown, known):
    found = torch.cdist(unknown, known).topk(3, dim=-1, largest=False)
    return found[0], found[1]


def three_interpolate(features, idx, weight):
    return (grouping_operation(features, idx) * weight[:, None]).sum(-1)


class QueryAndGroup(nn.Module):
    def __init__(self, radius, nsample, use_xyz=True):
        super().__init__()
        self.radius, self.nsample, self.use_xyz = radius, nsample, use_xyz

    def forward(self, xyz, new_xyz, features=None):
        idx = ball_query(self.radius, self.nsample, xyz, new_xyz)
        near = grouping_operation(xyz.transpose(1, 2).contiguous(), idx) - new_xyz.transpose(1, 2)[..., None]
        if features is None:
            return near
        grouped = grouping_operation(features, idx)
        return torch.cat([near, grouped], dim=1) if self.use_xyz else grouped


class GroupAll(nn.Module):
    def __init__(self, use_xyz=True):
        super().__init__()
        self.use_xyz = use_xyz

    def forward(self, xyz, new_xyz, features=None):
        grouped = xyz.transpose(1, 2).unsqueeze(2)
        if features is None:
            return grouped
        features = features.unsqueeze(2)
        return torch.cat([grouped, features], dim=1) if self.use_xyz else features
`;

/** module name → text */
export const POINT_MODULES: Readonly<Record<string, string>> = {
  pointnet2_ops: "",
  "pointnet2_ops.pointnet2_utils": POINTNET2_UTILS,
};
